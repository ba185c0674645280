"""Replica: the states of groups in the gateway, by which it answers as soon as Kafka has an event. The job decides the same later.

1. When a client asks for a group's coordinator, and before the second request to a group within a minute, the gateway sends a
   ReadState. The job's response has the group as of that event.
2. The gateway reads the events topic. To a group with a known state it applies each later event by the operator's own code, and its
   clients get the responses.
3. The job's response to the same event is compared, byte by byte. After a difference all states are dropped, and read again a minute later.

A response depends on the group's events, on deadlines and on the basis (runtime/basis.py). Deadlines also depend on the times of
batches and on outages, which only the job knows, and which only postpone them. So a state ends with the first event that was read
after the group's next deadline: the job answers it. A Tick with another basis ends the states of its partition.
While the job is away for long, or has too many responses to confirm, it answers alone.
"""

from __future__ import annotations

import logging
import math
import time
from base64 import b64decode
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from typing import Any, NamedTuple

from msgspec import DecodeError, Raw, Struct, convert, json, structs

import group_coordinator
from group_coordinator.clients.channel import Body
from group_coordinator.codecs import snapshots
from group_coordinator.codecs.fields import LONGEST_TEXT
from group_coordinator.core import coordinator
from group_coordinator.core.acls import Authorizer
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.group import Group
from group_coordinator.core.offsets.pending import awaited_markers
from group_coordinator.gateway.job.delivery import RecentEntries
from group_coordinator.runtime.basis import Basis, unpacked_acls
from group_coordinator.runtime.outputs import EventRow
from group_coordinator.runtime.update_group import OF_THE_WHOLE_CALL, UpdateContext, responses_to

_AGAIN_S = 60.0
"""Time in which the second request to a group must follow the first."""
_LOST_S = 30.0
"""A ReadState without a response for that time is forgotten, and sent again."""
_MOST_ASKED = 10_000
_CHANGING_S = 1.0
_TOO_LARGE_S = 300.0
_DIFFERENT_S = 60.0
_NAMES_BYTES = 8 * 1024 * 1024
_STATES_BYTES = 64 * 1024 * 1024
"""The limit of all states as they were read. Decoded groups take up to ten times that."""
_STATE_BYTES = 2_000
"""Memory of a small group."""
_MOST_OPEN = 100_000
_OPEN_S = 600.0
_MISSING_MS = 3_600_000
"""When the job answers events that are so much later, an unconfirmed response counts as missing."""

_NO_BASIS = "the job answers alone: its settings are about to change, or it has another version"
_COUNTED = ("answers", "equal", "different", "missing", "withheld")

_log = logging.getLogger(__name__)


class ReadEvent(NamedTuple):
    group_id: str
    row: EventRow


def read_events(records: Iterable[Any]) -> Iterator[ReadEvent]:
    """Return the events with valid keys. Events with other keys belong to groups that no replica follows."""
    for record in records:
        if record.key is None or len(record.key) > LONGEST_TEXT:
            continue
        try:
            group_id = record.key.decode()
        except UnicodeDecodeError:
            continue
        row = EventRow(record.timestamp, record.partition, record.offset, None, record.value)
        yield ReadEvent(group_id, row)


class StateRequest(NamedTuple):
    group_id: str
    correlation_id: str
    body: Body


class _Head(Struct, rename="camel", gc=False):
    id: str
    api: str | None = None
    group_id: str = ""
    at: int = 0
    correlation_id: str | None = None
    body: Raw = Raw(b"{}")


class _State(Struct, rename="camel", gc=False):
    error_code: int = 0
    error_message: str = ""
    state: str | None = None
    basis_id: str = ""
    basis: Basis | None = None


class _Tick(Struct, gc=False):
    api: str
    body: dict[str, Any] = {}


_head_of = json.Decoder(_Head).decode


class _Asked(NamedTuple):
    correlation_id: str
    at_s: float
    events: list[tuple[EventRow, int]]
    """Events since the request, with the times at which they were read."""


class _Followed:
    def __init__(self, group: Group, basis_id: str, partition: int, offset: int, size: int) -> None:
        self.group = group
        self.basis_id = basis_id
        self.partition = partition
        self.offset = offset
        """Offset of the ReadState, or of the last event."""
        self.size = size


class _Given(NamedTuple):
    value: bytes
    at_ms: int
    given_s: float


class Replica:
    """All methods belong to the event loop."""

    def __init__(
        self,
        events_topic: str,
        name: str,
        answer: Callable[[str, bytes], bool],
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        """Take the beginning of own correlation ids, and a callback for responses: it returns False if no client waits."""
        self._name = name
        self._events_topic = events_topic
        self._answer = answer
        self._clock_s = clock_s
        self._numbers = count(1)
        self._seen: RecentEntries[str, float] = RecentEntries(_NAMES_BYTES)
        """Times from which on the states of groups may be asked for."""
        self._asked: dict[str, _Asked] = {}
        self._followed: OrderedDict[str, _Followed] = OrderedDict()
        self._bytes = 0
        self._contexts: dict[str, tuple[UpdateContext, int]] = {}
        """By the basis' id: its context, and response.max.bytes."""
        self._announced: dict[int, str] = {}
        """The basis of the last Tick in each partition."""
        self._given: OrderedDict[str, _Given] = OrderedDict()
        self.counts: Counter[str] = Counter()
        self._off_until_s = 0.0
        self._has_basis = True

    def figures(self) -> dict[str, int]:
        """Return the samples of the metrics page, by name."""
        counters = {f"replica_{name}_total": self.counts[name] for name in _COUNTED}
        return {"replica_groups": len(self._followed), "replica_open": len(self._given), **counters}

    def expect(self, group_id: str) -> StateRequest | None:
        """Return the ReadState of a group whose coordinator a client has asked for; None: not now."""
        now_s, since_s = self._clock_s(), self._seen.get(group_id)
        if since_s is None or now_s > since_s + _AGAIN_S:
            self._seen[group_id] = now_s
        return self.ask(group_id)

    def ask(self, group_id: str) -> StateRequest | None:
        """Return the ReadState to be sent before the next request of this group; None: not now."""
        if group_id in self._followed:
            self._followed.move_to_end(group_id)
            return None
        now_s, since_s = self._clock_s(), self._seen.get(group_id)
        if since_s is None or now_s > since_s + _AGAIN_S:
            self._seen[group_id] = now_s
            return None
        # The key "" also has events without a group, and a broken key may look like a group id with this character.
        is_early = now_s < max(since_s, self._off_until_s)
        if is_early or not group_id or "\ufffd" in group_id:
            return None
        self._forget_lost()
        if group_id in self._asked or len(self._asked) >= _MOST_ASKED:
            return None
        correlation_id = f"{self._name}-state-{next(self._numbers)}"
        self._asked[group_id] = _Asked(correlation_id, now_s, [])
        body = {"groupId": group_id, "knownBasisId": next(reversed(self._contexts), "")}
        return StateRequest(group_id, correlation_id, body)

    def has_open_transactions(self, group_id: str) -> bool:
        followed = self._followed.get(group_id)
        return followed is not None and bool(awaited_markers(followed.group))

    def take(self, records: Iterable[Any], read_ms: int) -> None:
        """Apply records of the events topic, in the order of their offsets. `read_ms` is a time after they were read."""
        self.take_events(read_events(records), read_ms)

    def take_events(self, events: Iterable[ReadEvent], read_ms: int) -> None:
        for group_id, row in events:
            # The brokers' clock may be ahead of this machine's.
            read_ms = max(read_ms, row.timestamp_ms)
            self._forget_lost()
            followed, asked = self._followed.get(group_id), self._asked.get(group_id)
            if not group_id:
                self._announce(row)
            if followed is not None:
                self._handle(followed, row, read_ms)
            if asked is not None:
                asked.events.append((row, read_ms))

    def _forget_lost(self) -> None:
        # While the job is away, the events since the requests must not fill the memory. The oldest request is first.
        while self._asked:
            group_id, asked = next(iter(self._asked.items()))
            if self._clock_s() < asked.at_s + _LOST_S:
                return
            del self._asked[group_id]

    def left_of(self, values: Iterable[bytes]) -> list[bytes]:
        """Compare the job's responses with those given; return the others, for which clients may wait."""
        return [value for value in values if not self._is_taken(value)]

    def _announce(self, row: EventRow) -> None:
        try:
            tick = json.decode(row.value or b"", type=_Tick)
        except (ValueError, RecursionError):
            return
        basis_id = tick.body.get("basisId")
        if tick.api != "Tick" or not isinstance(basis_id, str):
            return
        self._announced[row.partition] = basis_id
        for group_id, followed in list(self._followed.items()):
            if followed.partition == row.partition and followed.basis_id != basis_id:
                self._drop(group_id)

    def _handle(self, followed: _Followed, row: EventRow, read_ms: int) -> None:
        group = followed.group
        if row.partition == followed.partition and row.offset <= followed.offset:
            return
        context, response_max_bytes = self._contexts[followed.basis_id]
        if row.partition != followed.partition or _has_deadline(group, context, read_ms):
            self._drop(group.group_id)
            return
        followed.offset = row.offset
        try:
            values = responses_to(group, _cut(row, context.config.event_max_bytes), context)
        except OF_THE_WHOLE_CALL as failure:
            _log.warning("group %r is left to the job: %s", group.group_id, failure)
            self._drop(group.group_id)
            return
        # The job keeps nothing of such a group, and begins with a new one.
        if group.is_forgotten:
            followed.group = Group(group.group_id)
        for value in values:
            if len(value) <= response_max_bytes:
                self._give(value)

    def _give(self, value: bytes) -> None:
        head = _head_of(value)
        if head.correlation_id is None or not head.correlation_id.startswith(self._name):
            return
        if self._is_job_away():
            self.counts["withheld"] += 1
        elif self._answer(head.correlation_id, value):
            self._given[head.id] = _Given(value, head.at, self._clock_s())
            self.counts["answers"] += 1

    def _is_job_away(self) -> bool:
        since_s = next((given.given_s for given in self._given.values()), math.inf)
        return len(self._given) >= _MOST_OPEN or self._clock_s() > since_s + _OPEN_S

    def _is_taken(self, value: bytes) -> bool:
        try:
            head = _head_of(value)
        except (DecodeError, RecursionError):
            return False
        given = self._given.pop(head.id, None)
        self._find_missing(head.at)
        if given is not None:
            self._compare(given.value, value)
            return True
        if head.api == "ReadState" and (head.correlation_id or "").startswith(self._name):
            self._take_state(head)
            return True
        return False

    def _compare(self, own: bytes, job: bytes) -> None:
        if own == job:
            self.counts["equal"] += 1
        else:
            self.counts["different"] += 1
            _log.error("a response differs from the job's: given %r, by the job %r", own, job)
            self._off_until_s = self._clock_s() + _DIFFERENT_S
            self._asked.clear()
            for group_id in list(self._followed):
                self._drop(group_id)

    def _find_missing(self, at_ms: int) -> None:
        while self._given:
            event_id, oldest = next(iter(self._given.items()))
            if at_ms <= oldest.at_ms + _MISSING_MS:
                return
            del self._given[event_id]
            self.counts["missing"] += 1
            _log.error("the job has no response %s: given %r", event_id, oldest.value)

    def _take_state(self, head: _Head) -> None:
        asked = self._asked.get(head.group_id)
        if asked is None or asked.correlation_id != head.correlation_id:
            return
        del self._asked[head.group_id]
        partition, offset = map(int, head.id.rsplit("-", 2)[1:])
        try:
            found = json.decode(head.body, type=_State)
            group = self._loaded(head.group_id, found, partition)
        except (DecodeError, snapshots.SnapshotError, snapshots.SnapshotVersionError) as failure:
            _log.warning(
                "group %r is left to the job: its state cannot be read: %s", head.group_id, failure
            )
            self._seen[head.group_id] = self._clock_s() + _TOO_LARGE_S
            return
        if group is None:
            return
        size = _STATE_BYTES + len(found.state or "")
        followed = _Followed(group, found.basis_id, partition, offset, size)
        self._followed[head.group_id] = followed
        self._bytes += size
        for row, read_ms in asked.events:
            if self._followed.get(head.group_id) is followed:
                self._handle(followed, row, read_ms)
        while self._bytes > _STATES_BYTES:
            self._drop(next(iter(self._followed)))

    def _loaded(self, group_id: str, found: _State, partition: int) -> Group | None:
        if found.error_code:
            why = f"error {found.error_code} {found.error_message}"
            _log.warning("group %r is left to the job: %s", group_id, why)
            self._seen[group_id] = self._clock_s() + _TOO_LARGE_S
            return None
        basis = found.basis
        if basis and basis.settings.program_version == group_coordinator.__version__:
            self._learn(found.basis_id, basis)
        announced = self._announced.get(partition, found.basis_id)
        if found.basis_id not in self._contexts or announced != found.basis_id:
            # Each group finds this out, and again until the basis is there.
            if self._has_basis:
                _log.warning(_NO_BASIS)
            self._has_basis = False
            self._seen[group_id] = self._clock_s() + _CHANGING_S
            return None
        self._has_basis = True
        if found.state is None:
            return Group(group_id)
        return snapshots.load(group_id, b64decode(found.state))

    def _learn(self, basis_id: str, basis: Basis) -> None:
        settings = basis.settings
        context = UpdateContext(
            convert(settings.coordinator, CoordinatorConfig),
            self._events_topic,
            settings.timer_slack_ms,
            timers_suspended=True,
            asks_for_topics=settings.announces_topics,
            acls=None if basis.acls is None else Authorizer(unpacked_acls(basis.acls)),
        )
        self._contexts[basis_id] = context, settings.response_max_bytes
        # States of older ones end with the Ticks.
        used = {followed.basis_id for followed in self._followed.values()} | {basis_id}
        self._contexts = {each: known for each, known in self._contexts.items() if each in used}

    def _drop(self, group_id: str) -> None:
        self._bytes -= self._followed.pop(group_id).size
        self._seen[group_id] = self._clock_s()


def _has_deadline(group: Group, context: UpdateContext, until_ms: int) -> bool:
    if group.wake_ms > until_ms:
        return False
    due_ms = coordinator.next_deadline(group, context.config)
    return due_ms is not None and due_ms <= until_ms


def _cut(row: EventRow, event_max_bytes: int) -> EventRow:
    # As the source of the job cuts it (streaming/source.py).
    value = row.value
    if value is None or len(value) <= event_max_bytes:
        return row
    return structs.replace(row, value=value[:event_max_bytes], cut_from=len(value))
