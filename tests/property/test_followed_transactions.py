"""A group, its job and the follower at odds: batches, looks, kills and late events in any order come to what Kafka would hold.

Clients are well-behaved: who commits a transaction has an answer to each of its TxnOffsetCommits. Of transactions that are aborted
nobody waited for the answers, and their commits may reach the events topic whenever they like.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from group_coordinator.codecs import snapshots
from group_coordinator.codecs.offsets_topic import partition_of
from group_coordinator.core.model.group import Group
from group_coordinator.driver.tasks.transaction_markers import AwaitedMarkers, MarkerFollower
from group_coordinator.runtime.outputs import EventRow
from group_coordinator.runtime.update_group import UpdateContext
from group_coordinator.settings import load
from tests.support.files import FilesInMemory
from tests.support.group_updates import lines_of, updated
from tests.unit.driver.test_marker_follower import Topic

PRODUCERS = (17, 18)
PARTITIONS = (0, 1)
EPOCH = 3
"""That of the markers that Topic writes."""
HOME = partition_of("g", 4)
NOW_MS = 1_000
CONTEXT = UpdateContext(
    load().coordinator, "group-events", 0, timers_suspended=True, follows_markers=True
)


class World:
    """A cluster with two producers, a job with one group, and what a broker would hold."""

    def __init__(self) -> None:
        self.held: dict[int, int] = {}
        self._topic = Topic()
        self._log_end = 0
        self._files = FilesInMemory()
        self._events: list[bytes] = []
        self._late: list[bytes] = []
        self._state: bytes | None = None
        self._read = 0
        self._commits = 0
        self._written: dict[int, int] = {}
        self._open: dict[int, dict[int, int]] = {producer: {} for producer in PRODUCERS}
        self._must_abort: set[int] = set()
        self.begin_run()

    def begin_run(self) -> None:
        """Kill the job, if it runs, and start it."""
        self._awaited = AwaitedMarkers(self._files)
        self._follower = MarkerFollower(self._awaited, self._topic, self._take)

    def commit(self, producer: int, partition: int, is_late: bool) -> None:  # noqa: FBT001
        self._commits += 1
        event = self._commit_event(producer, partition)
        if is_late:
            self._late.append(event)
            self._must_abort.add(producer)
        else:
            self._events.append(event)
            self._open[producer][partition] = self._commits

    def give_up(self, producer: int, partition: int) -> None:
        """A commit is on its way, and its transaction times out."""
        self.commit(producer, partition, is_late=True)
        self.end(producer, commits=False)

    def commit_plainly(self, partition: int) -> None:
        self._commits += 1
        body = {"groupId": "g", "topics": self._topics(partition)}
        self._events.append(_event("OffsetCommit", 8, body))
        self.held[partition] = self._written[partition] = self._commits

    def end(self, producer: int, commits: bool) -> None:  # noqa: FBT001
        """The transaction coordinator writes the marker."""
        commits = commits and producer not in self._must_abort
        if commits:
            self.batch()
        self._topic.write(HOME, self._log_end, producer, commits=commits)
        self._log_end += 1
        for partition, number in self._open[producer].items():
            if commits and self._written.get(partition, 0) < number:
                self.held[partition] = self._written[partition] = number
        self._open[producer].clear()
        self._must_abort.discard(producer)

    def of_others(self) -> None:
        """Markers of producers that have nothing to do with the group."""
        self._topic.write(HOME, self._log_end, 99)
        self._log_end += 1

    def late_one(self) -> None:
        if self._late:
            self._events.append(self._late.pop(0))

    def batch(self) -> None:
        rows = [
            EventRow(NOW_MS, 0, self._read + number, None, event)
            for number, event in enumerate(self._events)
        ]
        self._events.clear()
        self._read += len(rows)
        update = updated("g", self._state, rows, NOW_MS, CONTEXT)
        self._state = update.state
        self._awaited.note([line[1:] for line in lines_of(update) if line[0] == "M"])

    def look(self) -> None:
        self._follower.look()

    @property
    def group(self) -> Group:
        return snapshots.load("g", self._state) if self._state else Group("g")

    def come_to_rest(self) -> None:
        """All is told and heard."""
        while self._late:
            self.late_one()
        self.batch()
        while self.group.pending:
            before = dict(self.group.pending)
            self._follower.catch_up()
            self.batch()
            assert self.group.pending != before, "somebody waits for ever"

    def _take(self, events: Sequence[tuple[str, bytes]]) -> None:
        self._events += [event for _, event in events]

    def _commit_event(self, producer: int, partition: int) -> bytes:
        body = {
            "groupId": "g",
            "producerId": producer,
            "producerEpoch": EPOCH,
            "markersEndOffset": self._log_end,
            "topics": self._topics(partition),
        }
        return _event("TxnOffsetCommit", 3, body)

    def _topics(self, partition: int) -> list[dict[str, Any]]:
        committed = {"partitionIndex": partition, "committedOffset": self._commits}
        return [{"name": "orders", "partitions": [committed]}]


def _event(api: str, version: int, body: dict[str, Any]) -> bytes:
    return json.dumps({"api": api, "version": version, "body": body}).encode()


partitions, producers = st.sampled_from(PARTITIONS), st.sampled_from(PRODUCERS)
commits = st.tuples(
    st.just(World.commit), producers, partitions, st.sampled_from([False, False, True])
)
ends = st.tuples(st.just(World.end), producers, st.sampled_from([True, True, False]))
given_up = st.tuples(st.just(World.give_up), producers, partitions)
plain_commits = st.tuples(st.just(World.commit_plainly), partitions)
others = st.sampled_from(
    [World.batch, World.look, World.late_one, World.of_others, World.begin_run]
).map(lambda happens: (happens,))
STEPS = st.one_of(commits, ends, given_up, plain_commits, others, others)


@settings(max_examples=500)  # what is rare needs four steps in a row
@given(steps=st.lists(STEPS, max_size=40), last=st.lists(st.booleans(), min_size=2, max_size=2))
def test_a_followed_group_comes_to_hold_what_kafka_would(
    steps: list[tuple[Any, ...]], last: list[bool]
) -> None:
    world = World()
    for happens, *said in steps:
        happens(world, *said)
    for producer, is_commit in zip(PRODUCERS, last, strict=True):
        world.end(producer, is_commit)
    world.come_to_rest()

    held = {p: offset.offset for p, offset in world.group.offsets.get("orders", {}).items()}
    assert held == world.held
