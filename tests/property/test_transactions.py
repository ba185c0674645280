"""Transactions whose events come in another order than what they tell happened in the brokers' log.

A history is made as a cluster makes it: producers commit, plainly too, and the transaction coordinator writes markers, among those of
other groups. What Kafka would hold then is kept beside it (OffsetMetadataManager: a record replaces what was written before it). Then
the events are told to a group as a job may hear them: markers late and more than once, and commits of aborted transactions, which
nobody waited for, at any time. The group is there already: one that is not remembers no markers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from group_coordinator.codecs import snapshots
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.requests import EndTxn, OffsetCommit, Request, TxnOffsetCommit
from group_coordinator.core.offsets.pending import awaited_markers
from group_coordinator.core.replay import replay
from group_coordinator.testing import GroupDriver
from tests.unit.core import requests

PRODUCERS = (17, 18)
PARTITIONS = (0, 1)


class Told(NamedTuple):
    """An event, and when it happened; a commit with the number of its producer's transaction."""

    at: int
    request: Request
    transaction: int = 0


@dataclass
class History:
    """What happened, in its true order, and what a broker holds by now."""

    told: list[Told] = field(default_factory=list)
    held: dict[int, int] = field(default_factory=dict)
    log_end: int = 0
    """Of the partition that has the group's markers."""
    aborted: set[tuple[int, int]] = field(default_factory=set)
    transactions: dict[int, int] = field(default_factory=lambda: dict.fromkeys(PRODUCERS, 0))
    _written: dict[int, int] = field(default_factory=dict)
    _open: dict[int, dict[int, tuple[int, int]]] = field(
        default_factory=lambda: {producer: {} for producer in PRODUCERS}
    )

    def commit(self, producer: int | None, partition: int) -> None:
        """Commit the event's own number."""
        now = len(self.told)
        plain = requests.commit(requests.at_offset(now, partition))
        if producer is None:
            self.told.append(Told(now, plain))
            self.held[partition], self._written[partition] = now, now
            return
        request = requests.txn_commit(
            requests.at_offset(now, partition),
            producer_id=producer,
            producer_epoch=0,
            markers_end_offset=self.log_end,
        )
        self.told.append(Told(now, request, self.transactions[producer]))
        self._open[producer][partition] = (now, now)

    def end(self, producer: int, *, commits: bool) -> None:
        """Write the marker of the producer's transaction."""
        request = EndTxn(
            group_id="g",
            producer_id=producer,
            is_commit=commits,
            producer_epoch=0,
            marker_offset=self.log_end,
        )
        self.told.append(Told(len(self.told), request))
        self.log_end += 1
        for partition, (offset, written) in self._open[producer].items():
            if commits and self._written.get(partition, -1) < written:
                self.held[partition], self._written[partition] = offset, written
        if not commits:
            self.aborted.add((producer, self.transactions[producer]))
        self._open[producer].clear()
        self.transactions[producer] += 1


@st.composite
def histories(draw: st.DrawFn) -> History:
    history = History()
    committers = st.sampled_from([*PRODUCERS, *PRODUCERS, None])
    for _ in range(draw(st.integers(1, 15))):
        what = draw(st.sampled_from(["commit", "commit", "commit", "end", "end", "of others"]))
        if what == "commit":
            history.commit(draw(committers), draw(st.sampled_from(PARTITIONS)))
        elif what == "end":
            history.end(draw(st.sampled_from(PRODUCERS)), commits=draw(st.booleans()))
        else:
            history.log_end += draw(st.integers(1, 3))
    for producer in PRODUCERS:
        history.end(producer, commits=draw(st.booleans()))
    return history


@st.composite
def as_heard(draw: st.DrawFn, history: History) -> list[Request]:
    """The events in an order in which they may come, markers more than once.

    A marker is told when it was written or later, after the markers before it, as whoever reads them reads them in order.
    What is told again begins at some marker, and goes on from there.
    """
    delays = st.sampled_from([0, 0, 1, 2, 5, 20])
    placed: list[tuple[float, Request]] = []
    last_marker = 0.0
    for at, request, transaction in history.told:
        place = float(at)
        if isinstance(request, EndTxn):
            last_marker = place = max(last_marker, place + draw(delays))
        elif isinstance(request, TxnOffsetCommit):
            is_aborted = (request.producer_id, transaction) in history.aborted
            place += draw(delays) - 0.5 if is_aborted else 0
        placed.append((place, request))
    heard = [request for _, request in sorted(placed, key=lambda each: each[0])]
    markers = [request for request in heard if isinstance(request, EndTxn)]
    again = markers[draw(st.integers(0, len(markers))) :]
    at = draw(st.integers(0, len(heard)))
    told = [marker for marker in again if marker in heard[:at]]
    return [*heard[:at], *told, *heard[at:]]


def held(group: Group) -> dict[int, int]:
    return {p: offset.offset for p, offset in group.offsets.get("orders", {}).items()}


def group_that_is_there() -> GroupDriver:
    driver = GroupDriver()
    driver.commit({"audits": {0: 1}})
    return driver


def tell(driver: GroupDriver, request: Request) -> None:
    """Tell it, through the snapshot that one call of the operator leaves to the next."""
    outcome = driver.send(request, 8 if isinstance(request, OffsetCommit) else 0)
    if isinstance(request, TxnOffsetCommit):
        [result] = outcome.response.topics[0].partitions
        assert result.error in (ErrorCode.NONE, ErrorCode.INVALID_TXN_STATE)
    driver.group = snapshots.load("g", snapshots.dump(driver.group))


@given(history=histories(), data=st.data())
def test_in_the_end_a_group_holds_what_kafka_would(history: History, data: st.DataObject) -> None:
    driver = group_that_is_there()
    for request in data.draw(as_heard(history)):
        tell(driver, request)

    assert held(driver.group) == history.held
    assert driver.group.pending == {}


@given(history=histories(), data=st.data())
def test_the_log_alone_rebuilds_what_is_held_and_what_waits(
    history: History, data: st.DataObject
) -> None:
    driver = group_that_is_there()
    heard = data.draw(as_heard(history))
    for request in heard[: data.draw(st.integers(0, len(heard)))]:
        tell(driver, request)

    rebuilt = Group("g")
    replay(rebuilt, driver.log, driver.now_ms)

    assert rebuilt.offsets == driver.group.offsets
    assert rebuilt.pending == driver.group.pending


@given(history=histories(), data=st.data())
def test_who_tells_only_what_is_awaited_tells_enough(history: History, data: st.DataObject) -> None:
    """Markers are told while the group waits for one, from the first that may be its own; a commit that comes too late too."""
    driver = group_that_is_there()
    written: list[EndTxn] = []

    def tell_awaited() -> None:
        for producer, since in awaited_markers(driver.group).items():
            for marker in written:
                at = marker.marker_offset
                assert at is not None
                if marker.producer_id == producer and at >= since:
                    tell(driver, marker)

    for request in data.draw(as_heard(history)):
        if isinstance(request, EndTxn):
            written = [*written, request] if request not in written else written
        else:
            tell(driver, request)
        if data.draw(st.booleans()):
            driver.group.last_markers = {}
        tell_awaited()

    assert held(driver.group) == history.held
    assert driver.group.pending == {}
