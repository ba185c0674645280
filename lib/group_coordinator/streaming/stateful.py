"""The stateful operator: Spark's side of update_group."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd
from pyspark.sql import DataFrame
from pyspark.sql.streaming.state import GroupState, GroupStateTimeout
from pyspark.sql.types import BinaryType, IntegerType, StringType, StructField, StructType

from group_coordinator.streaming.hold_windows import RETRY_MS, Windows, timers_hold
from group_coordinator.streaming.packing import EventRow, unpack
from group_coordinator.streaming.update_group import (
    GroupUpdate,
    UpdateContext,
    update_group,
)
from group_coordinator.streaming.worker_process import (
    keep_archive_directories,
    look_for_cycles_seldom,
)

keep_archive_directories()
look_for_cycles_seldom()

STATE = StructType([StructField("version", IntegerType()), StructField("snapshot", BinaryType())])
"""Spark cannot change a state's columns in a checkpoint: what changes is inside the snapshot."""

STATE_VERSION = 1

_LONGEST_TIMEOUT_MS = 24 * 60 * 60 * 1000
"""Once a day every group looks again when it is due: settings may have changed since its timer was set."""

OUTPUT = StructType([StructField("lines", StringType())])
"""All output lines of one call, see output_lines.py."""

_EVENT = 1
"""The place of the column in the input, see source.py."""

_COLUMNS = pd.Index(OUTPUT.names)


class UnknownStateVersionError(Exception):
    """The checkpoint was written by a later version of this program."""


@dataclass(frozen=True, slots=True)
class OperatorSettings:
    """What the operator knows beside state and events; equal in every run of a batch."""

    context: UpdateContext
    hold_windows: Windows

    def context_at(self, batch_time_ms: int) -> UpdateContext:
        """The context for a batch of this time."""
        if timers_hold(self.hold_windows, batch_time_ms):
            return replace(self.context, timers_hold=True)
        return self.context


def coordinate(events: DataFrame, settings: OperatorSettings) -> DataFrame:
    """Run every event through its group's state machine."""
    return events.groupBy("group_id").applyInPandasWithState(
        partial(update_state, settings=settings),
        outputStructType=OUTPUT,
        stateStructType=STATE,
        outputMode="append",
        timeoutConf=GroupStateTimeout.ProcessingTimeTimeout,
    )


def update_state(
    key: tuple[str],
    frames: Iterable[pd.DataFrame],
    state: GroupState,
    settings: OperatorSettings,
) -> list[pd.DataFrame]:
    """One call for one group, because of events or because its timer fired.

    It ends in exactly one of update with a timer, update, remove. Spark keeps state and timer of a call that ends in
    none of them; that is right only where events left the group as it was: a timer would fire in every batch.
    """
    batch_time_ms = state.getCurrentProcessingTimeMs()
    context = settings.context_at(batch_time_ms)
    rows = [] if state.hasTimedOut else _events(frames)
    update = update_group(key[0], _snapshot(state), rows, batch_time_ms, context)
    if update.changed or state.hasTimedOut:
        _write(state, update, batch_time_ms, context)
    return [_frame(update.text)] if update.text else []


def _frame(text: str) -> pd.DataFrame:
    """One row, made the way that takes pandas least time: there is a frame for every group of a batch."""
    cell = np.empty((1, 1), dtype=object)
    cell[0, 0] = text
    return pd.DataFrame(cell, columns=_COLUMNS)


def _events(frames: Iterable[pd.DataFrame]) -> list[EventRow]:
    packed: list[bytes] = []
    for frame in frames:
        # A column of its own would be made in several times the time of the array of all.
        packed += frame.to_numpy()[:, _EVENT].tolist()
    return unpack(packed)


def _snapshot(state: GroupState) -> bytes | None:
    if not state.exists:
        return None
    version, snapshot = state.get
    if version != STATE_VERSION:
        raise UnknownStateVersionError(
            f"state version {version}, this program knows {STATE_VERSION}"
        )
    return bytes(snapshot)


def _write(
    state: GroupState, update: GroupUpdate, batch_time_ms: int, context: UpdateContext
) -> None:
    if update.state is None:
        state.remove()
        return
    state.update((STATE_VERSION, update.state))
    if update.deadline_ms is not None:
        state.setTimeoutDuration(_timeout_ms(update.deadline_ms, batch_time_ms, context))


def _timeout_ms(deadline_ms: int, batch_time_ms: int, context: UpdateContext) -> int:
    """Until the first batch that is the slack later than the deadline: Spark waits for a batch *after* the timeout."""
    if context.timers_hold and deadline_ms <= batch_time_ms:
        return RETRY_MS
    until_deadline_ms = deadline_ms + context.timer_slack_ms - 1 - batch_time_ms
    return min(max(1, until_deadline_ms), _LONGEST_TIMEOUT_MS)
