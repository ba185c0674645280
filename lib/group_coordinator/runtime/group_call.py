"""One call of the operator for one group: from what Spark hands over to what it must store, with either exchange."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from group_coordinator.codecs import snapshots
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.group import Group
from group_coordinator.core.replay import begin_sessions
from group_coordinator.runtime import known_groups
from group_coordinator.runtime.known_groups import KnownGroups
from group_coordinator.runtime.outputs import Piece
from group_coordinator.runtime.packing import seed_of, unpack
from group_coordinator.runtime.quarantine import (
    NOT_OURS,
    UnknownStateVersionError,
    letters_of_a_whole_call,
)
from group_coordinator.runtime.spill_file import ScratchFolder
from group_coordinator.runtime.update_group import GroupUpdate, UpdateContext, update_group

STATE_VERSION = 1

RETRY_MS = 5_000
"""A timer that is due while timers hold fires again after this time, not in every batch."""

_LONGEST_TIMEOUT_MS = 24 * 60 * 60 * 1000
"""Every group computes its deadline again once a day: settings may have changed since its timer was set."""


class StoredState(NamedTuple):
    """A group's row in the state store; with version STATE_VERSION, codecs.snapshots reads the snapshot."""

    version: int
    snapshot: bytes


class OperatorInput(NamedTuple):
    """What Spark hands over: events that source.py packed, sorted; without any, the group's timer fired.

    After a rebuild the first call of a group also brings its seed, see streaming/rebuild/rebuild.py.
    """

    group_id: str
    stored: StoredState | None
    packed: Iterable[bytes]
    batch_time_ms: int
    has_timed_out: bool


class OperatorResult(NamedTuple):
    """What Spark must do: send the outputs in all `pieces` on, and write the state if `write` says so.

    `state` and `timeout_ms` are ignored unless `write`. state None: remove it; timeout_ms None: no timer.
    """

    pieces: Iterable[Piece]
    write: bool
    state: StoredState | None = None
    timeout_ms: int | None = None


def call_group(
    given: OperatorInput,
    context: UpdateContext,
    known: KnownGroups = known_groups.of_this_process,
) -> OperatorResult:
    """Run the events, and the deadlines that are due, through the group's state machine.

    Where events leave a group as it was, nothing is written: Spark keeps its state and its timer. A call that a timer made
    always writes: without a new timer the same one would fire again in every batch. A group whose state cannot be read,
    or written again, keeps what it has, and its events become dead letters.

    Raises:
        UnknownStateVersionError: this program does not write such a state; SnapshotVersionError: nor such a snapshot.
    """
    try:
        return _called(given, context, known)
    except NOT_OURS:
        raise
    except Exception as defect:  # noqa: BLE001 - a group must not stop the stream; all is kept and counted
        return _quarantined(given, defect, context.scratch)


def _called(given: OperatorInput, context: UpdateContext, known: KnownGroups) -> OperatorResult:
    snapshot = None if given.stored is None else _snapshot(given.stored)
    if snapshot is None:
        group = _begun(given, context.config)
    else:
        group = known.take(given.group_id, snapshot) or snapshots.load(given.group_id, snapshot)
    update = update_group(group, unpack(given.packed), given.batch_time_ms, context)
    if update.state is not None:
        known.keep(group, update.state)
    if update.state == snapshot and not given.has_timed_out:
        return OperatorResult(update.pieces, write=False)
    return _written(update, given.batch_time_ms, context)


def _quarantined(given: OperatorInput, defect: Exception, scratch: ScratchFolder) -> OperatorResult:
    """The state stays as it was; a timer that has fired must be set again, or it would fire in every batch."""
    letters = letters_of_a_whole_call(
        given.group_id, unpack(given.packed), defect, given.batch_time_ms, scratch
    )
    seed = seed_of(given.packed)
    state = given.stored or (None if seed is None else StoredState(STATE_VERSION, seed))
    if state is None:
        return OperatorResult(letters, write=False)
    return OperatorResult(letters, write=True, state=state, timeout_ms=_LONGEST_TIMEOUT_MS)


def _snapshot(stored: StoredState) -> bytes:
    if stored.version != STATE_VERSION:
        raise UnknownStateVersionError(
            f"state version {stored.version}, this program knows {STATE_VERSION}"
        )
    return stored.snapshot


def _begun(given: OperatorInput, config: CoordinatorConfig) -> Group:
    """A group without state: one from a seed, whose members' sessions begin with the batch, or a new one."""
    seed = seed_of(given.packed)
    if seed is None:
        return Group(given.group_id)
    group = snapshots.load(given.group_id, seed)
    begin_sessions(group, given.batch_time_ms, config)
    return group


def _written(update: GroupUpdate, batch_time_ms: int, context: UpdateContext) -> OperatorResult:
    if update.state is None:
        return OperatorResult(update.pieces, write=True)
    timeout_ms = None
    if update.deadline_ms is not None:
        timeout_ms = _timeout_ms(update.deadline_ms, batch_time_ms, context)
    state = StoredState(STATE_VERSION, update.state)
    return OperatorResult(update.pieces, write=True, state=state, timeout_ms=timeout_ms)


def _timeout_ms(deadline_ms: int, batch_time_ms: int, context: UpdateContext) -> int:
    """The time until a batch is later than the deadline by the slack; Spark's timer fires in a batch *after* it."""
    if context.timers_hold and deadline_ms <= batch_time_ms:
        return RETRY_MS
    until_deadline_ms = deadline_ms + context.timer_slack_ms - 1 - batch_time_ms
    return min(max(1, until_deadline_ms), _LONGEST_TIMEOUT_MS)
