"""One call of the operator for one group: from what Spark hands over to what it has to store, whichever way it travels."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from group_coordinator.codecs import snapshots
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.group import Group
from group_coordinator.core.replay import begin_sessions
from group_coordinator.runtime.hold_windows import RETRY_MS, Windows, timers_hold
from group_coordinator.runtime.packing import seed_of, unpack
from group_coordinator.runtime.update_group import GroupUpdate, UpdateContext, update_group

STATE_VERSION = 1

_LONGEST_TIMEOUT_MS = 24 * 60 * 60 * 1000
"""Once a day every group looks again when it is due: settings may have changed since its timer was set."""


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


class StoredState(NamedTuple):
    """A group's row in the state store; `snapshot` is codecs.snapshots' if the version is STATE_VERSION."""

    version: int
    snapshot: bytes


class GroupCall(NamedTuple):
    """What Spark hands over: events packed by source.py, in order, or none because the group's timer fired.

    After a rebuild the first call of a group also brings its seed, see streaming/rebuild/rebuild.py.
    """

    group_id: str
    stored: StoredState | None
    packed: Iterable[bytes]
    batch_time_ms: int
    has_timed_out: bool


class CallResult(NamedTuple):
    """What Spark is to do: send each of `texts` on, and with the state what `write` says.

    `state` and `timeout_ms` count if `write` is True: None is a state to remove, or no timer to set.
    """

    texts: Iterable[str]
    write: bool
    state: StoredState | None = None
    timeout_ms: int | None = None


def call_group(call: GroupCall, settings: OperatorSettings) -> CallResult:
    """Run the events, and the deadlines that are due, through the group's state machine.

    Spark keeps state and timer of a call that writes nothing; that is right only where events left the group as it
    was: a timer would fire in every batch.

    Raises:
        UnknownStateVersionError: the state is none that this program writes.
    """
    context = settings.context_at(call.batch_time_ms)
    snapshot = None if call.stored is None else _snapshot(call.stored)
    if snapshot is None:
        group = _begun(call, context.config)
    else:
        group = snapshots.load(call.group_id, snapshot)
    update = update_group(group, unpack(call.packed), call.batch_time_ms, context)
    if update.state == snapshot and not call.has_timed_out:
        return CallResult(update.texts, write=False)
    return _written(update, call.batch_time_ms, context)


def _snapshot(stored: StoredState) -> bytes:
    if stored.version != STATE_VERSION:
        raise UnknownStateVersionError(
            f"state version {stored.version}, this program knows {STATE_VERSION}"
        )
    return stored.snapshot


def _begun(call: GroupCall, config: CoordinatorConfig) -> Group:
    """A group without a state: rebuilt, with sessions that begin with the batch, or new."""
    seed = seed_of(call.packed)
    if seed is None:
        return Group(call.group_id)
    group = snapshots.load(call.group_id, seed)
    begin_sessions(group, call.batch_time_ms, config)
    return group


def _written(update: GroupUpdate, batch_time_ms: int, context: UpdateContext) -> CallResult:
    if update.state is None:
        return CallResult(update.texts, write=True)
    timeout_ms = None
    if update.deadline_ms is not None:
        timeout_ms = _timeout_ms(update.deadline_ms, batch_time_ms, context)
    state = StoredState(STATE_VERSION, update.state)
    return CallResult(update.texts, write=True, state=state, timeout_ms=timeout_ms)


def _timeout_ms(deadline_ms: int, batch_time_ms: int, context: UpdateContext) -> int:
    """Until the first batch that is the slack later than the deadline: Spark waits for a batch *after* the timeout."""
    if context.timers_hold and deadline_ms <= batch_time_ms:
        return RETRY_MS
    until_deadline_ms = deadline_ms + context.timer_slack_ms - 1 - batch_time_ms
    return min(max(1, until_deadline_ms), _LONGEST_TIMEOUT_MS)
