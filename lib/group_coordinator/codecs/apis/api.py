"""The bodies of requests, field by field, as in Kafka's message definitions (clients/.../common/message/*Request.json).

A struct knows the fields of all versions of its API; what a version makes of them is in apis.py. Left out is UNSET, so
that what was said can be told from what is assumed.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from group_coordinator.codecs.fields import Int8, Int16, Int32, Int64, Text, Uuid


class Body(Struct, rename="camel", forbid_unknown_fields=True, gc=False):
    """An object of a request; a name that it does not know is refused, as it may be a slip of the pen."""


class JoinGroupProtocol(Body):
    """One entry of JoinGroup's protocols."""

    name: Text | UnsetType = UNSET
    metadata: bytes | UnsetType = UNSET


class JoinGroupBody(Body):
    """JoinGroup 0-9."""

    group_id: Text | UnsetType = UNSET
    session_timeout_ms: Int32 | UnsetType = UNSET
    rebalance_timeout_ms: Int32 | UnsetType = UNSET
    member_id: Text | UnsetType = UNSET
    group_instance_id: Text | UnsetType | None = UNSET
    protocol_type: Text | UnsetType = UNSET
    protocols: list[JoinGroupProtocol] | UnsetType = UNSET
    reason: Text | UnsetType | None = UNSET


class SyncGroupAssignment(Body):
    """One entry of SyncGroup's assignments."""

    member_id: Text | UnsetType = UNSET
    assignment: bytes | UnsetType = UNSET


class SyncGroupBody(Body):
    """SyncGroup 0-5."""

    group_id: Text | UnsetType = UNSET
    generation_id: Int32 | UnsetType = UNSET
    member_id: Text | UnsetType = UNSET
    group_instance_id: Text | UnsetType | None = UNSET
    protocol_type: Text | UnsetType | None = UNSET
    protocol_name: Text | UnsetType | None = UNSET
    assignments: list[SyncGroupAssignment] | UnsetType = UNSET


class HeartbeatBody(Body):
    """Heartbeat 0-4."""

    group_id: Text | UnsetType = UNSET
    generation_id: Int32 | UnsetType = UNSET
    member_id: Text | UnsetType = UNSET
    group_instance_id: Text | UnsetType | None = UNSET


class LeavingMember(Body):
    """One entry of LeaveGroup's members."""

    member_id: Text | UnsetType = UNSET
    group_instance_id: Text | UnsetType | None = UNSET
    reason: Text | UnsetType | None = UNSET


class LeaveGroupBody(Body):
    """LeaveGroup 0-5."""

    group_id: Text | UnsetType = UNSET
    member_id: Text | UnsetType = UNSET
    members: list[LeavingMember] | UnsetType = UNSET


class CommittedPartition(Body):
    """One partition of an OffsetCommit."""

    partition_index: Int32 | UnsetType = UNSET
    committed_offset: Int64 | UnsetType = UNSET
    committed_leader_epoch: Int32 | UnsetType = UNSET
    committed_metadata: Text | UnsetType | None = UNSET
    commit_timestamp: Int64 | UnsetType = UNSET


class CommittedTopic(Body):
    """One topic of an OffsetCommit."""

    name: Text | UnsetType | None = UNSET
    topic_id: Uuid | UnsetType = UNSET
    partitions: list[CommittedPartition] | UnsetType = UNSET


class OffsetCommitBody(Body):
    """OffsetCommit 1-10."""

    group_id: Text | UnsetType = UNSET
    generation_id_or_member_epoch: Int32 | UnsetType = UNSET
    member_id: Text | UnsetType = UNSET
    group_instance_id: Text | UnsetType | None = UNSET
    retention_time_ms: Int64 | UnsetType = UNSET
    topics: list[CommittedTopic] | UnsetType = UNSET


class TxnCommittedPartition(Body):
    """One partition of a TxnOffsetCommit."""

    partition_index: Int32 | UnsetType = UNSET
    committed_offset: Int64 | UnsetType = UNSET
    committed_leader_epoch: Int32 | UnsetType = UNSET
    committed_metadata: Text | UnsetType | None = UNSET


class TxnCommittedTopic(Body):
    """One topic of a TxnOffsetCommit."""

    name: Text | UnsetType = UNSET
    partitions: list[TxnCommittedPartition] | UnsetType = UNSET


class TxnOffsetCommitBody(Body):
    """TxnOffsetCommit 0-5."""

    transactional_id: Text | UnsetType = UNSET
    group_id: Text | UnsetType = UNSET
    producer_id: Int64 | UnsetType = UNSET
    producer_epoch: Int16 | UnsetType = UNSET
    generation_id: Int32 | UnsetType = UNSET
    member_id: Text | UnsetType = UNSET
    group_instance_id: Text | UnsetType | None = UNSET
    topics: list[TxnCommittedTopic] | UnsetType = UNSET


class EndTxnBody(Body):
    """EndTxn 0 (ours, with Kafka's fields): a transaction coordinator's marker for one group's log."""

    group_id: Text
    producer_id: Int64
    committed: bool
    producer_epoch: Int16 | UnsetType = UNSET


class FetchedTopic(Body):
    """One topic of an OffsetFetch."""

    name: Text | UnsetType | None = UNSET
    topic_id: Uuid | UnsetType = UNSET
    partition_indexes: list[Int32] | UnsetType = UNSET


class FetchedGroup(Body):
    """One group of an OffsetFetch from version 8."""

    group_id: Text | UnsetType = UNSET
    member_id: Text | UnsetType | None = UNSET
    member_epoch: Int32 | UnsetType = UNSET
    topics: list[FetchedTopic] | UnsetType | None = UNSET


class OffsetFetchBody(Body):
    """OffsetFetch 1-10."""

    group_id: Text | UnsetType = UNSET
    topics: list[FetchedTopic] | UnsetType | None = UNSET
    groups: list[FetchedGroup] | UnsetType = UNSET
    require_stable: bool | UnsetType = UNSET


class DeletedPartition(Body):
    """One partition of an OffsetDelete."""

    partition_index: Int32 | UnsetType = UNSET


class DeletedTopic(Body):
    """One topic of an OffsetDelete."""

    name: Text | UnsetType = UNSET
    partitions: list[DeletedPartition] | UnsetType = UNSET


class OffsetDeleteBody(Body):
    """OffsetDelete 0."""

    group_id: Text | UnsetType = UNSET
    topics: list[DeletedTopic] | UnsetType = UNSET


class DeleteGroupsBody(Body):
    """DeleteGroups 0-2."""

    groups_names: list[Text] | UnsetType = UNSET


class DescribeGroupsBody(Body):
    """DescribeGroups 0-6."""

    groups: list[Text] | UnsetType = UNSET
    include_authorized_operations: bool | UnsetType = UNSET


class DescribedResource(Body):
    """One resource of a DescribeConfigs."""

    resource_type: Int8 | UnsetType = UNSET
    resource_name: Text | UnsetType = UNSET
    configuration_keys: list[Text] | UnsetType | None = UNSET


class DescribeConfigsBody(Body):
    """DescribeConfigs 1-4."""

    resources: list[DescribedResource] | UnsetType = UNSET
    include_synonyms: bool | UnsetType = UNSET
    include_documentation: bool | UnsetType = UNSET


class AlteredConfig(Body):
    """One setting of an IncrementalAlterConfigs."""

    name: Text | UnsetType = UNSET
    config_operation: Int8 | UnsetType = UNSET
    value: Text | UnsetType | None = UNSET


class AlteredResource(Body):
    """One resource of an IncrementalAlterConfigs."""

    resource_type: Int8 | UnsetType = UNSET
    resource_name: Text | UnsetType = UNSET
    configs: list[AlteredConfig] | UnsetType = UNSET


class IncrementalAlterConfigsBody(Body):
    """IncrementalAlterConfigs 0-1."""

    resources: list[AlteredResource] | UnsetType = UNSET
    validate_only: bool | UnsetType = UNSET


TopicsVersion = Annotated[int, Meta(ge=0, le=2**62)]
"""The group counts on from it, and never comes to the end of an int64."""


class KnownTopic(Body):
    """One topic of a TopicMetadata event."""

    name: Text
    topic_id: Uuid
    num_partitions: Annotated[int, Meta(ge=1, le=2**31 - 1)]
    racks: list[list[Text]] | UnsetType | None = UNSET


class GoneTopic(Body):
    """One deleted topic of a TopicMetadata event."""

    name: Text
    topic_id: Uuid


class TopicMetadataBody(Body):
    """TopicMetadata 0 (ours)."""

    group_id: Text
    topics: list[KnownTopic]
    deleted_topics: list[GoneTopic] | UnsetType = UNSET
    version: TopicsVersion | UnsetType = UNSET
    complete: bool | UnsetType = UNSET


class TickBody(Body):
    """Tick 0 (ours); it says nothing."""

    group_id: Text | UnsetType = UNSET
