"""Values of records of share and streams groups (ShareGroup*.json, StreamsGroup*.json in Kafka), with the fields that tables show."""

from __future__ import annotations

from types import MappingProxyType

from msgspec import Struct, json

from group_coordinator.codecs.fields import ABSENT
from group_coordinator.codecs.records import record_types
from group_coordinator.codecs.records.consumer_group import (
    GroupEpochData,
    TargetEpochData,
    TopicPartitionsData,
)
from group_coordinator.codecs.records.consumer_member import TargetData
from group_coordinator.codecs.records.newest_values import Readers


class ShareMemberData(Struct, frozen=True, gc=False, rename="camel"):
    """Record type 10: identity and subscription of the member."""

    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    subscribed_topic_names: list[str] = []


class ShareCurrentData(Struct, frozen=True, gc=False, rename="camel"):
    """Record type 14: the current assignment. `state` is 0 for a member that has its target."""

    member_epoch: int = 0
    previous_member_epoch: int = 0
    state: int = 0
    assigned_partitions: list[TopicPartitionsData] = []


class ShareStateData(Struct, frozen=True, gc=False):
    """Record type 15: the partitions with a state of a share coordinator. No table shows it."""


SHARE_READERS: Readers = MappingProxyType(
    {
        record_types.SHARE_MEMBER_METADATA: json.Decoder(ShareMemberData).decode,
        record_types.SHARE_GROUP_EPOCH: json.Decoder(GroupEpochData).decode,
        record_types.SHARE_TARGET_EPOCH: json.Decoder(TargetEpochData).decode,
        record_types.SHARE_TARGET_ASSIGNMENT: json.Decoder(TargetData).decode,
        record_types.SHARE_CURRENT_ASSIGNMENT: json.Decoder(ShareCurrentData).decode,
        record_types.SHARE_STATE_OF_TOPICS: json.Decoder(ShareStateData).decode,
    }
)


class StreamsEpochData(Struct, frozen=True, gc=False, rename="camel"):
    """Record type 17. A group is not ready before its topology is validated."""

    epoch: int
    metadata_hash: int = 0
    validated_topology_epoch: int = ABSENT


class StreamsMemberData(Struct, frozen=True, gc=False, rename="camel"):
    """Record type 19: the identity of the member. Its subscription is in the topology."""

    instance_id: str | None = None
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    rebalance_timeout_ms: int = ABSENT


class Tasks(Struct, frozen=True, gc=False, rename="camel"):
    """Tasks of a subtopology. Each has the number of a partition."""

    subtopology_id: str
    partitions: list[int]


class StreamsTargetData(Struct, frozen=True, gc=False, rename="camel"):
    """Record type 21: the target assignment. No table shows it."""

    active_tasks: list[Tasks] = []


class StreamsCurrentData(Struct, frozen=True, gc=False, rename="camel"):
    """Record type 22: the current assignment. `state` is 1 for a member that has its target."""

    member_epoch: int = 0
    previous_member_epoch: int = 0
    state: int = 1
    active_tasks: list[Tasks] = []


class SourceTopic(Struct, frozen=True, gc=False):
    """A repartition topic that a subtopology reads."""

    name: str


class Subtopology(Struct, frozen=True, gc=False, rename="camel"):
    """A part of the topology, with the topics that it reads."""

    subtopology_id: str
    source_topics: list[str] = []
    repartition_source_topics: list[SourceTopic] = []

    @property
    def topics(self) -> list[str]:
        """The names of all topics that it reads. Topics of regular expressions are not in the log."""
        return [*self.source_topics, *(topic.name for topic in self.repartition_source_topics)]


class TopologyData(Struct, frozen=True, gc=False):
    epoch: int
    subtopologies: list[Subtopology] = []

    @property
    def topics(self) -> list[str]:
        """The names of all topics that the group reads, without repetition."""
        return sorted({topic for part in self.subtopologies for topic in part.topics})


STREAMS_READERS: Readers = MappingProxyType(
    {
        record_types.STREAMS_GROUP_EPOCH: json.Decoder(StreamsEpochData).decode,
        record_types.STREAMS_MEMBER_METADATA: json.Decoder(StreamsMemberData).decode,
        record_types.STREAMS_TARGET_EPOCH: json.Decoder(TargetEpochData).decode,
        record_types.STREAMS_TARGET_ASSIGNMENT: json.Decoder(StreamsTargetData).decode,
        record_types.STREAMS_CURRENT_ASSIGNMENT: json.Decoder(StreamsCurrentData).decode,
        record_types.STREAMS_TOPOLOGY: json.Decoder(TopologyData).decode,
    }
)
