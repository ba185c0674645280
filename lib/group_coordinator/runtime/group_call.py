"""A call of the operator for a group: sorted events, the group state before and after, and a cache of large groups.

A group may have gigabytes of events in one batch, such as all records without a key, and Spark passes them in no order. Events that
exceed the memory limit wait on disk: this is an external merge sort.

Decoding ten thousand members takes longer than handling the events, so the group cache keeps decoded groups. A result never depends
on it. A cached group is used only if Spark's group state has exactly the bytes that this group was written to: a repeated batch or
another process has others. A group leaves the cache when it is used: a call that fails halfway leaves no changed group behind.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from heapq import merge
from typing import NamedTuple

from group_coordinator.codecs import snapshots
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.group import Group
from group_coordinator.core.replay import begin_sessions
from group_coordinator.runtime.outputs import Piece, seed_of, unpack
from group_coordinator.runtime.update_group import (
    NOT_OURS,
    GroupUpdate,
    UnknownStateVersionError,
    UpdateContext,
    letters_of_a_whole_call,
    update_group,
)
from group_coordinator.runtime.what_if import ScratchFolder, SpillFile, usual_scratch

_MOST_BYTES_HELD = 64 * 1024 * 1024


class SortedEvents:
    """Packed events (outputs.py) that are added in any order. They can be iterated several times."""

    def __init__(
        self, packed: Sequence[bytes] = (), scratch: ScratchFolder = usual_scratch
    ) -> None:
        self._scratch = scratch
        self._held: list[bytes] = []
        self._held_bytes = 0
        self._runs: list[SpillFile] = []
        self.add(packed)

    def add(self, packed: Sequence[bytes]) -> None:
        self._held += packed
        self._held_bytes += sum(map(len, packed))
        if self._held_bytes > _MOST_BYTES_HELD:
            self._spill()

    def __iter__(self) -> Iterator[bytes]:
        self._held.sort()
        return merge(*self._runs, self._held) if self._runs else iter(self._held)

    def _spill(self) -> None:
        run = SpillFile(self._scratch)
        for event in sorted(self._held):
            run.append(event)
        self._runs.append(run)
        self._held = []
        self._held_bytes = 0


_LEAST_BYTES = 16 * 1024
"""The smallest group state in the cache. A smaller state is decoded in less than a tenth of a millisecond."""
_MOST_BYTES = 8 * 1024 * 1024
"""The limit of all group states in the cache. The decoded groups take more memory than that, at most 95 MB: decoded offsets take nine
times their bytes, consumers ten times.
"""


class _Known(NamedTuple):
    snapshot: bytes
    group: Group


class GroupCache:
    """The group cache: the groups that were kept last, up to a limit of bytes."""

    def __init__(self, least_bytes: int = _LEAST_BYTES, most_bytes: int = _MOST_BYTES) -> None:
        self._least_bytes = least_bytes
        self._most_bytes = most_bytes
        self._known: dict[str, _Known] = {}
        self._bytes = 0

    def take(self, group_id: str, snapshot: bytes) -> Group | None:
        """Remove and return the group that was written to this snapshot; None if it is not cached."""
        known = self._known.pop(group_id, None)
        if known is None:
            return None
        self._bytes -= len(known.snapshot)
        if known.snapshot != snapshot:
            return None
        group = known.group
        group.wake_ms = 0  # settings and outages may be others by now
        return group

    def keep(self, group: Group, snapshot: bytes) -> None:
        """Cache a group that was written to this snapshot. No other code may change the group from then on."""
        if not self._least_bytes <= len(snapshot) <= self._most_bytes:
            return
        # An older state of the same group must not count twice.
        self.take(group.group_id, b"")
        self._known[group.group_id] = _Known(snapshot, group)
        self._bytes += len(snapshot)
        while self._bytes > self._most_bytes:
            longest_ago = next(iter(self._known))
            self.take(longest_ago, b"")


of_this_process = GroupCache()


STATE_VERSION = 1

RETRY_MS = 5_000
"""A timer that is due while timers are suspended fires again after this time, not in every batch."""

_LONGEST_TIMEOUT_MS = 24 * 60 * 60 * 1000
"""Every group computes its deadline again once a day, as settings may have changed since its timer was set."""


class StoredState(NamedTuple):
    """A group's row in the state store. With version STATE_VERSION, codecs.snapshots reads the snapshot."""

    version: int
    snapshot: bytes


class OperatorInput(NamedTuple):
    """The arguments of a call: events packed by source.py, sorted. A call without events is a timer that fired.

    After a rebuild the first call of a group also has its seed, see streaming/rebuild/rebuild.py.
    """

    group_id: str
    stored: StoredState | None
    packed: Iterable[bytes]
    batch_time_ms: int
    has_timed_out: bool


class OperatorResult(NamedTuple):
    """The results of a call: outputs in `pieces`, and a state to write if `write` is True.

    `state` and `timeout_ms` are ignored unless `write`. state None: the state is removed; timeout_ms None: no timer is set.
    """

    pieces: Iterable[Piece]
    write: bool
    state: StoredState | None = None
    timeout_ms: int | None = None


def call_group(
    given: OperatorInput, context: UpdateContext, known: GroupCache = of_this_process
) -> OperatorResult:
    """Handle the events of a group and fire the deadlines that are due.

    If events leave a group as it was, nothing is written: Spark keeps its state and its timer. A call of a fired timer always
    writes: without a new timer the old timer would fire again in every batch. A group whose state cannot be read or written
    keeps its state, and its events become dead letters.
    Raises UnknownStateVersionError: this program does not write such a state; SnapshotVersionError: nor such a snapshot.
    """
    try:
        return _called(given, context, known)
    except NOT_OURS:
        raise
    except Exception as defect:  # noqa: BLE001 - a group must not stop the stream; all is kept and counted
        return _quarantined(given, defect, context.scratch)


def _called(given: OperatorInput, context: UpdateContext, known: GroupCache) -> OperatorResult:
    snapshot = None if given.stored is None else _snapshot(given.stored)
    if snapshot is None:
        group = _begun(given, context.config)
    # The cache saves decoding; its group equals the decoded one.
    else:
        group = known.take(given.group_id, snapshot) or snapshots.load(given.group_id, snapshot)
    update = update_group(group, unpack(given.packed), given.batch_time_ms, context)
    if update.state is not None:
        known.keep(group, update.state)
    # Spark keeps state and timer of a group that is not written, but a fired timer is gone.
    if update.state == snapshot and not given.has_timed_out:
        return OperatorResult(update.pieces, write=False)
    return _written(update, given.batch_time_ms, context)


def _quarantined(given: OperatorInput, defect: Exception, scratch: ScratchFolder) -> OperatorResult:
    # The state stays as it was, so that a repaired version can handle the group.
    letters = letters_of_a_whole_call(
        given.group_id, unpack(given.packed), defect, given.batch_time_ms, scratch
    )
    seed = seed_of(given.packed)
    # A seed exists only in this call: it becomes the state now.
    state = given.stored or (None if seed is None else StoredState(STATE_VERSION, seed))
    if state is None:
        # A fired timer must be set again, or it would fire in every batch.
        return OperatorResult(letters, write=False)
    return OperatorResult(letters, write=True, state=state, timeout_ms=_LONGEST_TIMEOUT_MS)


def _snapshot(stored: StoredState) -> bytes:
    if stored.version != STATE_VERSION:
        raise UnknownStateVersionError(
            f"state version {stored.version}, this program knows {STATE_VERSION}"
        )
    return stored.snapshot


def _begun(given: OperatorInput, config: CoordinatorConfig) -> Group:
    seed = seed_of(given.packed)
    if seed is None:
        return Group(given.group_id)
    group = snapshots.load(given.group_id, seed)
    # The sessions of a rebuilt group begin with the batch: the seed has no live timers.
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
    # The suspended timers would fire in every batch without this delay.
    if context.timers_suspended and deadline_ms <= batch_time_ms:
        return RETRY_MS
    # Spark fires a timer in a batch after its time, so one millisecond less makes the slack exact.
    until_deadline_ms = deadline_ms + context.timer_slack_ms - 1 - batch_time_ms
    return min(max(1, until_deadline_ms), _LONGEST_TIMEOUT_MS)
