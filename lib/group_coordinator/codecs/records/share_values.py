"""Values of the record types 10 to 15 (ShareGroup*.json in Kafka), with the fields that tables show."""

from __future__ import annotations

from types import MappingProxyType

from msgspec import Struct, json

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


READERS: Readers = MappingProxyType(
    {
        record_types.SHARE_MEMBER_METADATA: json.Decoder(ShareMemberData).decode,
        record_types.SHARE_GROUP_EPOCH: json.Decoder(GroupEpochData).decode,
        record_types.SHARE_TARGET_EPOCH: json.Decoder(TargetEpochData).decode,
        record_types.SHARE_TARGET_ASSIGNMENT: json.Decoder(TargetData).decode,
        record_types.SHARE_CURRENT_ASSIGNMENT: json.Decoder(ShareCurrentData).decode,
        record_types.SHARE_STATE_OF_TOPICS: json.Decoder(ShareStateData).decode,
    }
)
