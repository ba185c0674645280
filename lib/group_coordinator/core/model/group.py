"""A group and what it holds. Data and questions only: decisions are in handlers, changes in replay and rebalance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from group_coordinator.core.model.classic_group import ClassicGroup
from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.offset import CommittedOffset, LastMarker, PendingOffset
from group_coordinator.core.model.states import ClassicState
from group_coordinator.core.model.stored_values import StoredValues
from group_coordinator.core.model.topic import Topic
from group_coordinator.core.model.topic_offsets import StoredTopic, TopicOffsets

_NO_OFFSETS = TopicOffsets()


def is_empty(membership: ClassicGroup | ConsumerGroup) -> bool:
    """Whether the group has no members: it may be deleted, and its name given to a group of the other kind."""
    if isinstance(membership, ClassicGroup):
        return membership.state is ClassicState.EMPTY
    return not membership.members


@dataclass(slots=True)
class Group:
    """Everything known of one group id. Without membership the group does not exist (Dead)."""

    group_id: str
    membership: ClassicGroup | ConsumerGroup | None = None
    offsets: StoredValues[TopicOffsets, StoredTopic] = field(default_factory=StoredValues)
    """Committed offsets by topic name and partition; no topic without any. Only store_offset and remove_offset change them."""
    topics: dict[str, Topic] | None = None
    """The cluster's topics by name; None: not known, so existence is not checked."""
    clock_ms: int = 0
    """Time of the last event or fired deadline."""
    wake_ms: int = field(default=0, compare=False)
    """No deadline lies before this time; 0: not known. Saves the search for due deadlines at each event."""
    pending: dict[tuple[str, int], dict[int, tuple[PendingOffset, ...]]] = field(
        default_factory=dict
    )
    """Offsets of open transactions by topic, partition and producer id; nothing inside is empty.

    A producer has several where its next transaction began before the group was told of the end of the one before.
    """
    topics_version: int = 0
    """Grows with every change of the cluster's topics that the group learns of."""
    new_topics_version: int = 0
    """The version at which the latest new topics came."""
    configs: dict[str, str] = field(default_factory=dict)
    """What administrators set for this group alone, by Kafka's names; the group need not exist."""
    topics_are_complete: bool = True
    """Whether `topics` are all topics of the cluster; if not, others may exist."""
    last_markers: dict[int, LastMarker] = field(default_factory=dict)
    """By producer id, in the order in which the group was told: what tells a late commit (core/offsets/pending.py)."""

    @property
    def classic(self) -> ClassicGroup | None:
        """The membership if it is a classic one."""
        membership = self.membership
        return membership if isinstance(membership, ClassicGroup) else None

    @property
    def consumer(self) -> ConsumerGroup | None:
        """The membership if it is a consumer group's."""
        membership = self.membership
        return membership if isinstance(membership, ConsumerGroup) else None

    @property
    def has_no_data(self) -> bool:
        """Whether it has neither membership nor settings: at most, it knows of the cluster's topics."""
        return self.membership is None and not self.configs

    @property
    def is_forgotten(self) -> bool:
        """Whether nothing is known of it, not even of the cluster's topics: a host keeps no such group."""
        return self.has_no_data and self.topics is None

    def store_offset(self, topic: str, partition: int, offset: CommittedOffset) -> None:
        """Put an offset in the place of the one that was there."""
        partitions = self.offsets.known.get(topic)
        if partitions is None:
            partitions = self.offsets.get(topic) or TopicOffsets()
        partitions[partition] = offset
        self.offsets[topic] = partitions

    def remove_offset(self, topic: str, partition: int) -> None:
        """Forget an offset, if it is known."""
        partitions = self.offsets.get(topic)
        if partitions is None or partitions.pop(partition, None) is None:
            return
        if partitions:
            self.offsets[topic] = partitions
        else:
            del self.offsets[topic]

    def committed(self, topic: str) -> Mapping[int, CommittedOffset]:
        """The topic's committed offsets by partition."""
        return self.offsets.get(topic, _NO_OFFSETS)

    def holds_offset(self, topic: str, partition: int) -> bool:
        """Whether the partition has a committed offset, or one that waits for its transaction."""
        return partition in self.committed(topic) or (topic, partition) in self.pending

    def count_offsets(self) -> int:
        """How many partitions hold an offset; a look at every topic, not at every partition."""
        waiting = sum(p not in self.committed(topic) for topic, p in self.pending)
        return waiting + sum([offsets.size for _, offsets in self.offsets.read_or_stored()])

    def topics_by_id(self) -> dict[str, Topic]:
        """The known topics by their ids."""
        return {topic.topic_id: topic for topic in (self.topics or {}).values()}

    def partition_exists(self, topic: str, partition: int) -> bool:
        """Whether a partition exists, as far as the group knows."""
        if self.topics is None:
            return True
        known = self.topics.get(topic)
        if known is None:
            return not self.topics_are_complete
        return 0 <= partition < known.num_partitions
