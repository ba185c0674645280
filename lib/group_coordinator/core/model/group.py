"""A group: its membership, offsets and configurations. Handlers decide; replay and rebalance change it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from group_coordinator.core.model.classic_group import ClassicGroup
from group_coordinator.core.model.classic_member import ClassicState
from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.requests import Topic
from group_coordinator.core.model.stored_values import StoredValues
from group_coordinator.core.model.topic_offsets import (
    CommittedOffset,
    LastMarker,
    PendingOffset,
    StoredTopic,
    TopicOffsets,
)

_NO_OFFSETS = TopicOffsets()


def is_empty(membership: ClassicGroup | ConsumerGroup) -> bool:
    """Return True if the group has no members: it may be deleted, or replaced by a group of the other type."""
    if isinstance(membership, ClassicGroup):
        return membership.state is ClassicState.EMPTY
    return not membership.members


@dataclass(slots=True)
class Group:
    """All data of a group id. Without membership the group does not exist (Dead)."""

    group_id: str
    membership: ClassicGroup | ConsumerGroup | None = None
    offsets: StoredValues[TopicOffsets, StoredTopic] = field(default_factory=StoredValues)
    """Committed offsets by topic name and partition. No topic is empty. Only store_offset and remove_offset may change them."""
    topics: dict[str, Topic] | None = None
    """The cluster's topics by name; None: unknown, so existence is not checked."""
    clock_ms: int = 0
    """Time of the last event or fired deadline."""
    wake_ms: int = field(default=0, compare=False)
    """No deadline is before this time; 0: unknown. It saves the search for due deadlines at each event."""
    pending: dict[tuple[str, int], dict[int, tuple[PendingOffset, ...]]] = field(
        default_factory=dict
    )
    """Offsets of open transactions by topic, partition and producer id. No inner entry is empty.

    A producer has several if its next transaction began before the group received the marker of the transaction before.
    """
    topics_version: int = 0
    """Grows with each change of the group's topic metadata."""
    new_topics_version: int = 0
    """The version in which the latest new topics were added."""
    configs: dict[str, str] = field(default_factory=dict)
    """The group configurations by Kafka's names. The group need not exist."""
    topics_are_complete: bool = True
    """True: `topics` has all topics of the cluster. False: others may exist."""
    last_markers: dict[int, LastMarker] = field(default_factory=dict)
    """The last transaction marker of each producer id, in the order of arrival. It shows late commits (core/offsets/pending.py)."""

    @property
    def classic(self) -> ClassicGroup | None:
        """The membership of a classic group; None: another type."""
        membership = self.membership
        return membership if isinstance(membership, ClassicGroup) else None

    @property
    def consumer(self) -> ConsumerGroup | None:
        """The membership of a consumer group; None: another type."""
        membership = self.membership
        return membership if isinstance(membership, ConsumerGroup) else None

    @property
    def has_no_data(self) -> bool:
        """True: neither membership nor configurations exist. The group may have topic metadata."""
        return self.membership is None and not self.configs

    @property
    def is_forgotten(self) -> bool:
        """True: nothing is known of the group, not even topic metadata. Hosts do not keep such a group."""
        return self.has_no_data and self.topics is None

    def store_offset(self, topic: str, partition: int, offset: CommittedOffset) -> None:
        # A direct look at decoded offsets: it is the usual case, and commits are frequent.
        partitions = self.offsets.known.get(topic)
        if partitions is None:
            partitions = self.offsets.get(topic) or TopicOffsets()
        partitions[partition] = offset
        self.offsets[topic] = partitions

    def remove_offset(self, topic: str, partition: int) -> None:
        partitions = self.offsets.get(topic)
        if partitions is None or partitions.pop(partition, None) is None:
            return
        if partitions:
            self.offsets[topic] = partitions
        else:
            del self.offsets[topic]

    def committed(self, topic: str) -> Mapping[int, CommittedOffset]:
        return self.offsets.get(topic, _NO_OFFSETS)

    def holds_offset(self, topic: str, partition: int) -> bool:
        """Return True if the partition has a committed or a pending offset."""
        return partition in self.committed(topic) or (topic, partition) in self.pending

    def count_offsets(self) -> int:
        """Return the number of partitions with an offset. It takes a look at every topic, not at every partition."""
        # A partition with a committed and a pending offset counts once.
        waiting = sum(p not in self.committed(topic) for topic, p in self.pending)
        return waiting + sum([offsets.size for _, offsets in self.offsets.read_or_stored()])

    def topics_by_id(self) -> dict[str, Topic]:
        return {topic.topic_id: topic for topic in (self.topics or {}).values()}

    def partition_exists(self, topic: str, partition: int) -> bool:
        """Return True if a partition exists according to the group's topic metadata."""
        if self.topics is None:
            return True
        known = self.topics.get(topic)
        if known is None:
            return not self.topics_are_complete
        return 0 <= partition < known.num_partitions
