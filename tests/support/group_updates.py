"""Updates of a group outside the job: from snapshot to snapshot, as the operator makes them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from group_coordinator.codecs import snapshots
from group_coordinator.core.model.group import Group
from group_coordinator.runtime.packing import EventRow
from group_coordinator.runtime.update_group import GroupUpdate, UpdateContext, update_group
from group_coordinator.settings import load


def update_context(*overrides: str, **changes: Any) -> UpdateContext:
    """The job's context with these settings; `changes` are fields of it that are not as usual."""
    usual = UpdateContext(
        load(overrides=overrides).coordinator,
        "group-events",
        timer_slack_ms=1_000,
        timers_hold=False,
    )
    return replace(usual, **changes)


def updated(
    group_id: str,
    state: bytes | None,
    rows: Iterable[EventRow],
    batch_time_ms: int,
    context: UpdateContext,
) -> GroupUpdate:
    group = Group(group_id) if state is None else snapshots.load(group_id, state)
    return update_group(group, rows, batch_time_ms, context)


def lines_of(update: GroupUpdate) -> list[str]:
    """The outputs one by one."""
    return [line for text in update.texts for line in text.split("\n")]
