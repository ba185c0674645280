"""Random lives of a group id in a cluster that is mirrored: share, streams and simple groups, one after the other.

What Kafka's coordinator writes at once stays together, in its order (GroupCoordinatorRecordHelpers and
StreamsCoordinatorRecordHelpers in Kafka 4.4). The model beside it says what the tables must show.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from group_coordinator.tables.compaction.rows import StoredLogEntry

IDS = {"orders": f"{0:021d}A", "bills": f"{1:021d}A"}
MEMBERS = st.sampled_from(["m1", "m2", "m3"])
PARTITIONS = st.sets(st.integers(0, 2))
SOURCES = {"0": ["orders"], "1": ["bills", "repartition"]}
"""The topics of a streams group, by subtopology."""


@dataclass
class ForeignLife:
    """The log of a group id, and who is in the group; `kind` is None while it has no record of its own."""

    log: list[StoredLogEntry] = field(default_factory=list)
    now_ms: int = 1_000_000
    kind: str | None = None
    epoch: int = 0
    members: dict[str, set[int]] = field(default_factory=dict)
    """The partitions, or tasks, that each has."""
    committed: dict[int, int] = field(default_factory=dict)
    """Offsets of orders, by partition."""

    def write(self, *records: tuple[int, dict[str, Any], dict[str, Any] | None]) -> None:
        """One batch of the coordinator's."""
        for record_type, key, data in records:
            about = json.dumps({"type": record_type, "data": key})
            value = None if data is None else json.dumps({"version": 0, "data": data})
            place = (len(self.log), 0)
            self.log.append(
                StoredLogEntry(*place, about, value, self.now_ms, "mirrored", inferred=False)
            )
        self.now_ms += 1_000

    def commit(self, partition: int) -> None:
        if self.kind == "share":
            return
        self.committed[partition] = self.now_ms
        data = {"offset": self.now_ms, "metadata": "", "commitTimestamp": self.now_ms}
        self.write((1, offset_key(partition), data))

    def forget(self, partition: int) -> None:
        if self.committed.pop(partition, None) is not None:
            self.write((1, offset_key(partition), None))

    def join(self, member_id: str, kind: str) -> None:
        if self.kind is None and self.committed:
            if kind == "share":
                return
            self.write((2, {"group": "g"}, None))
        if self.kind not in {None, kind}:
            return
        is_new, self.kind = self.kind is None, kind
        self.members.setdefault(member_id, set())
        self.epoch += 1
        if kind == "share":
            self.write(
                (10, self._about(member_id), share_member(member_id)),
                (11, GROUP, {"epoch": self.epoch, "metadataHash": 7}),
            )
        else:
            topology = [(23, GROUP, TOPOLOGY)] if is_new else []
            epoch = {"epoch": self.epoch, "metadataHash": 7, "validatedTopologyEpoch": 1}
            member = (19, self._about(member_id), streams_member(member_id))
            self.write(member, *topology, (17, GROUP, epoch))

    def move(self, member_id: str) -> None:
        """The member has moved to another machine; nothing else follows from that."""
        if member_id in self.members:
            is_share = self.kind == "share"
            found = share_member(member_id) if is_share else streams_member(member_id)
            found["clientHost"] = f"/10.0.0.{self.now_ms // 1_000 % 100}"
            self.write((10 if is_share else 19, self._about(member_id), found))

    def assign(self, member_id: str, partitions: set[int]) -> None:
        if member_id not in self.members:
            return
        self.members[member_id] = partitions
        given = sorted(partitions)
        epoch = {"memberEpoch": self.epoch, "previousMemberEpoch": self.epoch - 1}
        if self.kind == "share":
            topics = [{"topicId": IDS["orders"], "partitions": given}] if given else []
            self.write(
                (13, self._about(member_id), {"topicPartitions": topics}),
                (12, GROUP, {"assignmentEpoch": self.epoch}),
            )
            held = epoch | {"state": 0, "assignedPartitions": topics}
            self.write((14, self._about(member_id), held))
        else:
            tasks = [{"subtopologyId": "1", "partitions": given}] if given else []
            none: dict[str, Any] = {"standbyTasks": [], "warmupTasks": []}
            self.write(
                (21, self._about(member_id), {"activeTasks": tasks} | none),
                (20, GROUP, {"assignmentEpoch": self.epoch}),
            )
            self.write(
                (22, self._about(member_id), epoch | none | {"state": 1, "activeTasks": tasks})
            )

    def leave(self, member_id: str) -> None:
        if self.members.pop(member_id, None) is None:
            return
        self.epoch += 1
        types = (14, 13, 10) if self.kind == "share" else (22, 21, 19)
        epoch = {"epoch": self.epoch, "metadataHash": 7, "validatedTopologyEpoch": 1}
        gone = [(each, self._about(member_id), None) for each in types]
        self.write(*gone, (11 if self.kind == "share" else 17, GROUP, epoch))

    def end(self) -> None:
        """An administrator deletes the group, with its offsets; only an empty one goes."""
        if self.members or self.kind is None:
            return
        gone = [(1, offset_key(partition), None) for partition in self.committed]
        types = (12, 15, 11) if self.kind == "share" else (20, 17, 23)
        self.write(*gone, *((each, GROUP, None) for each in types))
        self.committed.clear()
        self.kind, self.epoch = None, 0

    def keep_state(self) -> None:
        if self.kind == "share":
            topics = {"initializingTopics": [], "initializedTopics": [], "deletingTopics": []}
            self.write((15, GROUP, topics))

    def _about(self, member_id: str) -> dict[str, Any]:
        return {"groupId": "g", "memberId": member_id}


GROUP = {"groupId": "g"}
TOPOLOGY = {
    "epoch": 1,
    "subtopologies": [
        {"subtopologyId": "0", "sourceTopics": ["orders"], "repartitionSourceTopics": []},
        {
            "subtopologyId": "1",
            "sourceTopics": ["bills"],
            "repartitionSourceTopics": [
                {"name": "repartition", "partitions": 0, "replicationFactor": 1, "topicConfigs": []}
            ],
        },
    ],
}


def offset_key(partition: int) -> dict[str, Any]:
    return {"group": "g", "topic": "orders", "partition": partition}


def share_member(member_id: str) -> dict[str, Any]:
    return {
        "rackId": None,
        "clientId": f"client-{member_id}",
        "clientHost": "/10.0.0.1",
        "subscribedTopicNames": ["orders"],
    }


def streams_member(member_id: str) -> dict[str, Any]:
    return {
        "instanceId": None,
        "rackId": None,
        "clientId": f"client-{member_id}",
        "clientHost": "/10.0.0.1",
        "rebalanceTimeoutMs": 60_000,
        "topologyEpoch": 1,
        "processId": "p",
        "userEndpoint": None,
        "clientTags": [],
    }


Step = Callable[[ForeignLife], None]
STEPS: st.SearchStrategy[Step] = st.one_of(
    st.builds(lambda p: lambda life: life.commit(p), st.integers(0, 1)),
    st.builds(lambda p: lambda life: life.forget(p), st.integers(0, 1)),
    st.builds(
        lambda m, k: lambda life: life.join(m, k), MEMBERS, st.sampled_from(["share", "streams"])
    ),
    st.builds(lambda m: lambda life: life.move(m), MEMBERS),
    st.builds(lambda m, p: lambda life: life.assign(m, p), MEMBERS, PARTITIONS),
    st.builds(lambda m: lambda life: life.leave(m), MEMBERS),
    st.builds(lambda m: lambda life: life.leave(m), MEMBERS),
    st.just(lambda life: life.keep_state()),
    st.just(lambda life: life.end()),
)


def lived(steps: list[Step]) -> ForeignLife:
    """A life of these steps."""
    life = ForeignLife()
    for step in steps:
        step(life)
    return life


def cleaned(
    log: list[StoredLogEntry], dirty_from: int, tombstones_until: int
) -> Iterator[StoredLogEntry]:
    """What a cleaner leaves: before `dirty_from` the newest record of each key, and of those no tombstone that is old."""
    newest = {entry.key: entry for entry in log[:dirty_from]}
    for place, entry in enumerate(log):
        is_old_tombstone = entry.value is None and place < tombstones_until
        if place >= dirty_from or (newest[entry.key] is entry and not is_old_tombstone):
            yield entry
