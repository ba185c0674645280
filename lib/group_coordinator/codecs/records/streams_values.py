"""Values of the record types 17 and 19 to 23 (StreamsGroup*.json in Kafka), as far as tables show them."""

from __future__ import annotations

from types import MappingProxyType

from msgspec import Struct, json

from group_coordinator.codecs.fields import ABSENT
from group_coordinator.codecs.records import record_types
from group_coordinator.codecs.records.consumer_group import TargetEpochData
from group_coordinator.codecs.records.newest_values import Readers


class StreamsEpochData(Struct, frozen=True, gc=False, rename="camel"):
    """Record type 17; a group whose topology is not validated yet is not ready."""

    epoch: int
    metadata_hash: int = 0
    validated_topology_epoch: int = ABSENT


class StreamsMemberData(Struct, frozen=True, gc=False, rename="camel"):
    """Record type 19: who the member is; the topology says what it wants."""

    instance_id: str | None = None
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    rebalance_timeout_ms: int = ABSENT


class Tasks(Struct, frozen=True, gc=False, rename="camel"):
    """Tasks of a subtopology, each named after a partition."""

    subtopology_id: str
    partitions: list[int]


class StreamsTargetData(Struct, frozen=True, gc=False, rename="camel"):
    """Record type 21: what the member is to have; no table shows it."""

    active_tasks: list[Tasks] = []


class StreamsCurrentData(Struct, frozen=True, gc=False, rename="camel"):
    """Record type 22: what the member has; `state` is 1 for a member that is where it is to be."""

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
        """All topics that it reads, by name; those of its patterns are not in the log."""
        return [*self.source_topics, *(topic.name for topic in self.repartition_source_topics)]


class TopologyData(Struct, frozen=True, gc=False):
    """Record type 23."""

    epoch: int
    subtopologies: list[Subtopology] = []

    @property
    def topics(self) -> list[str]:
        """All topics that the group reads, by name, each once."""
        return sorted({topic for part in self.subtopologies for topic in part.topics})


READERS: Readers = MappingProxyType(
    {
        record_types.STREAMS_GROUP_EPOCH: json.Decoder(StreamsEpochData).decode,
        record_types.STREAMS_MEMBER_METADATA: json.Decoder(StreamsMemberData).decode,
        record_types.STREAMS_TARGET_EPOCH: json.Decoder(TargetEpochData).decode,
        record_types.STREAMS_TARGET_ASSIGNMENT: json.Decoder(StreamsTargetData).decode,
        record_types.STREAMS_CURRENT_ASSIGNMENT: json.Decoder(StreamsCurrentData).decode,
        record_types.STREAMS_TOPOLOGY: json.Decoder(TopologyData).decode,
    }
)
"""By record type: from a value's `data`."""
