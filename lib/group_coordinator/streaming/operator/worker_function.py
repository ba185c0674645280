"""The stateful function: its Spark side, and its way to the workers. The driver passes properties of a batch to its tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, NoReturn

import numpy as np
import pandas as pd
from msgspec import json, structs
from pyspark import TaskContext
from pyspark.sql import DataFrame
from pyspark.sql.streaming.state import GroupState, GroupStateTimeout
from pyspark.sql.types import BinaryType, IntegerType, StructField, StructType

from group_coordinator.core.acls import Authorizer
from group_coordinator.core.deadlines import Outages
from group_coordinator.runtime.basis import Basis, unpacked_acls
from group_coordinator.runtime.group_call import (
    OperatorInput,
    OperatorResult,
    SortedEvents,
    StoredState,
    call_group,
)
from group_coordinator.runtime.outputs import Piece
from group_coordinator.runtime.update_group import UpdateContext
from group_coordinator.runtime.what_if import ScratchFolder
from group_coordinator.streaming.operator.known_pyspark import Wanted, chosen, digest_here
from group_coordinator.streaming.operator.lean_exchange import exchange_leanly
from group_coordinator.streaming.operator.output_rows import OUTPUT, OutputLimits, OutputRows
from group_coordinator.streaming.operator.worker_process import cheaper_while_there
from group_coordinator.streaming.source import TIMERS_SUSPENDED
from group_coordinator.streaming.task_properties import ACLS_CHANGE, ACLS_PROPERTY, OUTAGES_PROPERTY


def in_this_task(context: UpdateContext) -> UpdateContext:
    """Return the query's context with the properties of this batch."""
    task = TaskContext.get()
    if task is None:
        return context
    outages, timers_suspended = (
        task.getLocalProperty(name) for name in (OUTAGES_PROPERTY, TIMERS_SUSPENDED)
    )
    # Most batches have no properties: no copy is needed.
    if not outages and not timers_suspended and not context.checks_acls:
        return context
    acls = task.getLocalProperty(ACLS_PROPERTY)
    return replace(
        context,
        timers_suspended=context.timers_suspended or bool(timers_suspended),
        outages=_decoded(outages) if outages else context.outages,
        acls=_authorizer(acls) if context.checks_acls else None,
        basis=_basis(context, acls, task.getLocalProperty(ACLS_CHANGE)),
    )


TAKEN_AT_ONCE = "group.coordinator.taken.at.once"
"""Name of a local property of the driver's thread, which Spark copies to the tasks that it starts: OutputLimits in JSON."""


def limits_in_this_task() -> OutputLimits | None:
    """Return the limits of this task's outputs; None: the driver does not collect the batch."""
    task = TaskContext.get()
    text = task.getLocalProperty(TAKEN_AT_ONCE) if task is not None else None
    return json.decode(text, type=OutputLimits) if text else None


# Cached, as a worker handles many groups of the same batch, with the same text.
@lru_cache(maxsize=1)
def _decoded(text: str) -> Outages:
    return json.decode(text, type=Outages)


@lru_cache(maxsize=1)
def _authorizer(text: str | None) -> Authorizer:
    # Without ACLs every operation would be allowed.
    if not text:
        raise RuntimeError("the batch has no ACLs, and must not run without them")
    return Authorizer(unpacked_acls(text))


def _basis(context: UpdateContext, acls: str | None, change: str | None) -> Basis | None:
    if context.basis is None or not context.checks_acls:
        return context.basis
    return None if change or not acls else _with_acls(context.basis.encoded, acls)


# By the encoded basis of the query, as settings have no hash.
@lru_cache(maxsize=1)
def _with_acls(encoded: bytes, acls: str) -> Basis:
    return structs.replace(json.decode(encoded, type=Basis), acls=acls)


class PickledFunction:
    """The stateful function as Spark pickles it, without its `rows`. A worker unpickles it for every task, for its own exchange."""

    def __init__(
        self, function: Callable[..., Any], context: UpdateContext, exchange: Wanted
    ) -> None:
        self._given = function, context, exchange

    def __call__(self, *arguments: Any) -> NoReturn:
        """Fail: Spark requires a callable, but calls the result of `__reduce__`."""
        raise NotImplementedError("a PickledFunction is called in a Python worker only")

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return _unpickled, self._given


def _unpickled(
    function: Callable[..., Any], context: UpdateContext, exchange: Wanted
) -> Callable[..., Any]:
    """Return the function for stock PySpark with the task's rows. The lean exchange never calls it."""
    # Outside of a task there is no exchange to choose.
    if TaskContext.get() is None:
        return function
    # A new object per task, as a worker is reused by other tasks.
    rows = OutputRows(limits_in_this_task())
    function = partial(function, rows=rows)
    cheaper_while_there(function)
    if chosen(exchange, digest_here()) == "lean":
        exchange_leanly(function, in_this_task(context), rows)
    return function


STATE = StructType([StructField("version", IntegerType()), StructField("snapshot", BinaryType())])
"""Schema of a group state. Spark cannot change its columns in a checkpoint: changes of layout are inside the snapshot."""

_EVENT = 1
"""Index of the column in the input, see source.py."""

_COLUMNS = pd.Index(OUTPUT.names)


def coordinate(events: DataFrame, context: UpdateContext, exchange: Wanted) -> DataFrame:
    """Run every event through its group's state machine; the outputs do not depend on the exchange (lean_exchange.py)."""
    function = partial(update_state, context=context)
    return events.groupBy("group_id").applyInPandasWithState(
        PickledFunction(function, context, exchange),
        outputStructType=OUTPUT,
        stateStructType=STATE,
        outputMode="append",
        timeoutConf=GroupStateTimeout.ProcessingTimeTimeout,
    )


def update_state(
    key: tuple[str],
    frames: Iterable[pd.DataFrame],
    state: GroupState,
    context: UpdateContext,
    rows: OutputRows,
) -> Iterator[pd.DataFrame]:
    """Run a call for a group. It ends in exactly one of: update with a timer, update, remove, or nothing (see call_group)."""
    given = OperatorInput(
        key[0],
        _stored(state),
        SortedEvents() if state.hasTimedOut else _packed(frames, context.scratch),
        state.getCurrentProcessingTimeMs(),
        state.hasTimedOut,
    )
    result = call_group(given, in_this_task(context))
    if result.write:
        _write(state, result)
    return map(partial(_frame, rows, key[0]), result.pieces)


def _frame(rows: OutputRows, group_id: str, piece: Piece) -> pd.DataFrame:
    # The fastest way in pandas: every group of a batch has a frame.
    rows.add(group_id, piece)
    taken = rows.take()
    cells = np.empty((len(taken), len(_COLUMNS)), dtype=object)
    cells[:] = taken
    return pd.DataFrame(cells, columns=_COLUMNS)


def _packed(frames: Iterable[pd.DataFrame], scratch: ScratchFolder) -> SortedEvents:
    packed = SortedEvents(scratch=scratch)
    for frame in frames:
        # To select the column alone would take pandas several times as long.
        packed.add(frame.to_numpy()[:, _EVENT].tolist())
    return packed


def _stored(state: GroupState) -> StoredState | None:
    if not state.exists:
        return None
    version, snapshot = state.get
    return StoredState(version, bytes(snapshot))


def _write(state: GroupState, result: OperatorResult) -> None:
    if result.state is None:
        state.remove()
        return
    state.update(result.state)
    if result.timeout_ms is not None:
        state.setTimeoutDuration(result.timeout_ms)
