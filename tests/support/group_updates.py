"""Updates of a group outside the job: from snapshot to snapshot, as the operator makes them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from msgspec import Raw, json
from msgspec.structs import asdict

from group_coordinator.codecs import snapshots
from group_coordinator.core.model.group import Group
from group_coordinator.runtime.group_call import OperatorResult
from group_coordinator.runtime.outputs import (
    AwaitedMarkersLine,
    DeadLetterRow,
    DenialRow,
    EventRow,
    LogRow,
    Output,
    RebalancingLine,
    ResponseRow,
    StateReadLine,
    TopicSubscriptionLine,
)
from group_coordinator.runtime.update_group import GroupUpdate, UpdateContext, update_group
from group_coordinator.settings import load


def update_context(*overrides: str, **changes: Any) -> UpdateContext:
    """The job's context with these settings; `changes` are fields of it that are not as usual."""
    usual = UpdateContext(
        load(overrides=overrides).coordinator,
        "group-events",
        timer_slack_ms=1_000,
        timers_suspended=False,
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


def lines_of(update: GroupUpdate | OperatorResult) -> list[str]:
    """The outputs one by one, each a letter for its kind and JSON; between them the partition that a client reads."""
    return [line_of(output) for piece in update.pieces for output in piece.outputs]


def lines_without_places(update: GroupUpdate) -> list[str]:
    """The same without each output's number within its call, which is the business of how events are cut into batches."""
    return [
        line[0] + json.encode(_without_place(json.decode(line[1:]))).decode()
        for line in lines_of(update)
    ]


def _without_place(content: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in content.items() if name != "seq"}


def line_of(output: Output) -> str:
    """An output as lines_of has it."""
    if isinstance(output, ResponseRow):
        number = "" if output.partition is None else str(output.partition)
        return f"R{number}{output.value.decode()}"
    content = asdict(output)
    if isinstance(output, LogRow):
        value = None if output.value is None else Raw(output.value)
        content |= {"key": Raw(output.key), "value": value}
    return _LETTERS[type(output)] + json.encode(content).decode()


_LETTERS = {
    LogRow: "L",
    DeadLetterRow: "D",
    TopicSubscriptionLine: "T",
    AwaitedMarkersLine: "M",
    RebalancingLine: "S",
    StateReadLine: "G",
    DenialRow: "A",
}
