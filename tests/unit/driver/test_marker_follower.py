"""The follower between a topic's partitions, made by hand, and groups that say for whom they wait."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence

import pytest

from group_coordinator.clients.cluster.marker_reader import Marker, Stretch
from group_coordinator.clients.errors import BrokerUnreachableError
from group_coordinator.driver.tasks.transaction_markers import AwaitedMarkers, MarkerFollower
from tests.support.files import FilesInMemory
from tests.unit.driver.test_awaited_markers import line

# Java's hash codes of one letter: its number.
A, B, E = "a", "b", "e"
OF_A, OF_B = 97 % 4, 98 % 4
AT_A_TIME = 3


class Topic:
    """Markers by partition; a read gives three of a partition at most."""

    def __init__(self, partitions: int = 4) -> None:
        self.partitions = partitions
        self.logs: defaultdict[int, dict[int, Marker]] = defaultdict(dict)
        self.reads: list[dict[int, int]] = []
        self.is_away = False

    def write(self, partition: int, offset: int, producer: int, *, commits: bool = True) -> None:
        self.logs[partition][offset] = Marker(offset, producer, 3, commits)

    def partition_count(self) -> int:
        return self.partitions

    def read(self, positions: Mapping[int, int]) -> dict[int, Stretch]:
        if self.is_away:
            raise BrokerUnreachableError("away")
        self.reads.append(dict(positions))
        return {partition: self._stretch(partition, at) for partition, at in positions.items()}

    def _stretch(self, partition: int, position: int) -> Stretch:
        log = self.logs[partition]
        there = [log[offset] for offset in sorted(log) if offset >= position]
        found = there[:AT_A_TIME]
        end = found[-1].offset + 1 if found else position
        return Stretch(found, end, len(there) - len(found))


class Scene:
    """Everything around a follower."""

    def __init__(self, files: FilesInMemory | None = None, topic: Topic | None = None) -> None:
        self.files = files or FilesInMemory()
        self.topic = topic or Topic()
        self.awaited = AwaitedMarkers(self.files)
        self.sent: list[tuple[str, bytes]] = []
        self.is_full = False
        self.follower = MarkerFollower(self.awaited, self.topic, self._send)

    def _send(self, events: Sequence[tuple[str, bytes]]) -> None:
        if self.is_full:
            raise BrokerUnreachableError("full")
        self.sent += events

    def waits(self, group: str, since: dict[int, int]) -> None:
        self.awaited.note([line(group, since)])

    def told(self) -> list[tuple[str, int, int]]:
        """Group, producer and place of the markers that were told since the last call."""
        bodies = [(group, json.loads(event)["body"]) for group, event in self.sent]
        self.sent.clear()
        return [(group, body["producerId"], body["markerOffset"]) for group, body in bodies]

    def look(self) -> list[tuple[str, int, int]]:
        self.follower.look()
        return self.told()


@pytest.fixture
def scene() -> Scene:
    return Scene()


def test_nothing_is_read_while_nobody_waits(scene: Scene) -> None:
    scene.topic.write(OF_A, 5, 17)
    assert scene.look() == []
    assert scene.topic.reads == []


def test_a_group_is_told_of_its_producers_marker_once(scene: Scene) -> None:
    scene.waits(A, {17: 5})
    scene.topic.write(OF_A, 4, 17)
    scene.topic.write(OF_A, 5, 18)
    scene.topic.write(OF_A, 6, 17, commits=False)

    scene.follower.look()

    [(group, event)] = scene.sent
    assert group == A
    assert json.loads(event) == {
        "api": "EndTxn",
        "principal": "Job:group-coordinator",
        "version": 0,
        "correlationId": None,
        "body": {
            "groupId": A,
            "producerId": 17,
            "committed": False,
            "producerEpoch": 3,
            "markerOffset": 6,
            "sinceOffset": 5,
        },
    }
    scene.told()
    assert scene.look() == []
    assert scene.topic.reads == [{OF_A: 5}, {OF_A: 7}]


def test_a_marker_says_since_where_it_is_the_producers_first(scene: Scene) -> None:
    scene.waits(A, {17: 3})
    scene.topic.write(OF_A, 5, 17)
    scene.topic.write(OF_A, 8, 17)
    scene.follower.look()
    scene.topic.write(OF_A, 9, 17)
    scene.follower.look()

    bodies = [json.loads(event)["body"] for _, event in scene.sent]
    places = [(body["sinceOffset"], body["markerOffset"]) for body in bodies]
    assert places == [(3, 5), (6, 8), (9, 9)]


def test_partitions_are_read_where_somebody_waits_and_as_long(scene: Scene) -> None:
    scene.waits(A, {17: 5})
    scene.waits(B, {17: 2})
    scene.topic.write(OF_B, 3, 17)
    scene.topic.write(OF_A, 3, 17)
    assert scene.look() == [(B, 17, 3)]
    scene.waits(B, {})
    scene.look()
    scene.waits(A, {})
    scene.look()
    assert scene.topic.reads == [{OF_A: 5, OF_B: 2}, {OF_A: 5}]


def test_groups_of_one_partition_wait_each_from_an_offset_of_its_own(scene: Scene) -> None:
    scene.topic.write(OF_A, 5, 17)
    scene.topic.write(OF_A, 8, 17)
    scene.waits(A, {17: 8})
    assert scene.look() == [(A, 17, 8)]
    scene.waits(E, {17: 5})
    assert scene.look() == [(E, 17, 5), (E, 17, 8)]


def test_a_group_that_says_something_new_is_told_again_from_there(scene: Scene) -> None:
    """A commit that came late, or the next transaction's, whose marker was there before the group said that it waits."""
    scene.waits(A, {17: 5})
    scene.topic.write(OF_A, 6, 17)
    scene.topic.write(OF_A, 8, 17)
    assert scene.look() == [(A, 17, 6), (A, 17, 8)]
    scene.waits(A, {17: 7})
    assert scene.look() == [(A, 17, 8)]
    scene.waits(A, {17: 3})
    assert scene.look() == [(A, 17, 6), (A, 17, 8)]


def test_a_run_that_ends_by_itself_tells_all_that_is_there(scene: Scene) -> None:
    scene.waits(A, {17: 0})
    for offset in range(2 * AT_A_TIME + 1):
        scene.topic.write(OF_A, offset, 17)

    scene.follower.catch_up()

    assert [offset for _, _, offset in scene.told()] == list(range(2 * AT_A_TIME + 1))
    scene.waits(A, {})
    scene.follower.catch_up()
    assert scene.told() == []


def test_who_begins_anew_reads_again_from_the_oldest_wait(scene: Scene) -> None:
    """The marker was read, and told perhaps, by a run that was killed then."""
    scene.waits(A, {17: 5, 18: 3})
    scene.topic.write(OF_A, 6, 17)
    assert scene.look() == [(A, 17, 6)]

    after_kill = Scene(scene.files, scene.topic)

    assert after_kill.look() == [(A, 17, 6)]
    assert after_kill.topic.reads[-1] == {OF_A: 3}


def test_what_could_not_be_read_or_told_is_told_later(scene: Scene) -> None:
    scene.waits(A, {17: 5})
    scene.topic.write(OF_A, 6, 17)
    scene.topic.is_away = True
    with pytest.raises(BrokerUnreachableError):
        scene.look()
    scene.topic.is_away, scene.is_full = False, True
    with pytest.raises(BrokerUnreachableError):
        scene.look()
    scene.is_full = False
    assert scene.look() == [(A, 17, 6)]


def test_a_topic_that_is_not_there_yet_is_waited_for(scene: Scene) -> None:
    scene.topic.partitions = 0
    scene.waits(A, {17: 0})
    assert scene.look() == []
    scene.topic.partitions = 4
    scene.topic.write(OF_A, 0, 17)
    assert scene.look() == [(A, 17, 0)]


def test_a_partition_without_leader_is_read_when_it_has_one(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene.waits(A, {17: 5})
    scene.topic.write(OF_A, 6, 17)
    with monkeypatch.context() as without_leader:
        without_leader.setattr(scene.topic, "read", lambda _: {})
        assert scene.look() == []
    assert scene.look() == [(A, 17, 6)]
