"""The coordinator's responses. Codecs write them in the request's version."""

from __future__ import annotations

from enum import IntEnum

from group_coordinator.core.assignors.spec import Assignment
from group_coordinator.core.model.classic_member import ReplyAddress
from group_coordinator.core.model.consumer_member import ConsumerMember
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.requests import Topic
from group_coordinator.core.value import Value


class JoinedMember(Value, frozen=True):
    """A member in the leader's response: its metadata for the elected protocol."""

    member_id: str
    group_instance_id: str | None
    metadata: bytes


class JoinGroupResponse(Value, frozen=True):
    """The response to JoinGroup. Only the leader gets members; generation None is -1 on the wire."""

    error: ErrorCode
    member_id: str
    generation: int | None = None
    protocol_type: str | None = None
    protocol: str | None = None
    leader: str = ""
    skip_assignment: bool = False
    # Empty for followers: otherwise a group of n members would send n times n subscriptions.
    members: tuple[JoinedMember, ...] = ()


class SyncGroupResponse(Value, frozen=True):
    """The response to SyncGroup: the member's own assignment."""

    error: ErrorCode
    protocol_type: str | None = None
    protocol: str | None = None
    assignment: bytes = b""


class HeartbeatResponse(Value, frozen=True):
    """The response to Heartbeat. REBALANCE_IN_PROGRESS asks the member to join again."""

    error: ErrorCode


class MemberResult(Value, frozen=True):
    member_id: str
    group_instance_id: str | None
    error: ErrorCode


class LeaveGroupResponse(Value, frozen=True):
    """The response to LeaveGroup. Up to version 2 the only member's error is the response's error."""

    error: ErrorCode
    members: tuple[MemberResult, ...] = ()


class PartitionResult(Value, frozen=True):
    partition: int
    error: ErrorCode


class TopicResult(Value, frozen=True):
    """The results for a topic's partitions. The topic has the name or the id of the request."""

    name: str | None
    topic_id: str | None
    partitions: tuple[PartitionResult, ...]


class OffsetCommitResponse(Value, frozen=True):
    """The response to OffsetCommit: a result for each partition, no error for the whole request."""

    topics: tuple[TopicResult, ...]


class TxnOffsetCommitResponse(Value, frozen=True):
    """The response to TxnOffsetCommit: a result for each partition, no error for the whole request."""

    topics: tuple[TopicResult, ...]


class EndTxnResponse(Value, frozen=True):
    """The response to EndTxn: the marker is in the group's log."""

    error: ErrorCode


class FetchedPartition(Value, frozen=True):
    """A committed offset. Offset None is -1 on the wire: no committed offset."""

    partition: int
    offset: int | None = None
    leader_epoch: int | None = None
    metadata: str = ""
    error: ErrorCode = ErrorCode.NONE


class FetchedTopic(Value, frozen=True):
    name: str | None
    topic_id: str | None
    partitions: tuple[FetchedPartition, ...]


class OffsetFetchResponse(Value, frozen=True):
    error: ErrorCode
    group_id: str
    topics: tuple[FetchedTopic, ...] = ()


class OffsetDeleteResponse(Value, frozen=True):
    """The response to OffsetDelete. With an error it has no topics."""

    error: ErrorCode
    topics: tuple[TopicResult, ...] = ()


class DeleteGroupResponse(Value, frozen=True):
    error: ErrorCode
    group_id: str


class DescribedMember(Value, frozen=True, kw_only=True):
    """A member of a described group. It has metadata only while the group is Stable."""

    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    metadata: bytes
    assignment: bytes


class DescribeGroupResponse(Value, frozen=True):
    error: ErrorCode
    error_message: str | None
    group_id: str
    state: str = ""
    protocol_type: str = ""
    protocol: str = ""
    members: tuple[DescribedMember, ...] = ()
    operations: int | None = None
    """The operations that the sender may do with the group, a bit for each of Kafka's AclOperations; None: not requested."""


class ConsumerGroupHeartbeatResponse(Value, frozen=True):
    """A member's epoch and assignment. Assignment None: unchanged since the response before."""

    error: ErrorCode
    error_message: str | None = None
    member_id: str | None = None
    member_epoch: int = 0
    heartbeat_interval_ms: int = 0
    assignment: Assignment | None = None


class DescribedConsumer(Value, frozen=True):
    """A member of a described consumer group. Assignments are pairs (topic, partitions) of known topics."""

    member: ConsumerMember
    assignment: tuple[tuple[Topic, tuple[int, ...]], ...]
    target: tuple[tuple[Topic, tuple[int, ...]], ...]


class ConsumerGroupDescribeResponse(Value, frozen=True):
    error: ErrorCode
    error_message: str | None
    group_id: str
    state: str = ""
    epoch: int = 0
    assignment_epoch: int = 0
    assignor: str = ""
    members: tuple[DescribedConsumer, ...] = ()
    operations: int | None = None
    """See DescribeGroupResponse."""


class ConfigSource(IntEnum):
    """The source of a configuration's value. The numbers are Kafka's."""

    STATIC_BROKER_CONFIG = 4
    DEFAULT_CONFIG = 5
    GROUP_CONFIG = 8


class ConfigType(IntEnum):
    """The type of a configuration's value. The numbers are Kafka's."""

    BOOLEAN = 1
    STRING = 2
    INT = 3
    LONG = 5
    LIST = 7


class DescribedSynonym(Value, frozen=True):
    """A possible source of a configuration's value."""

    name: str
    value: str
    source: ConfigSource


class DescribedConfig(Value, frozen=True, kw_only=True):
    name: str
    value: str
    source: ConfigSource
    synonyms: tuple[DescribedSynonym, ...]
    documentation: str | None
    type: ConfigType = ConfigType.INT


class DescribeConfigsResponse(Value, frozen=True):
    error: ErrorCode
    error_message: str | None
    group_id: str
    configs: tuple[DescribedConfig, ...] = ()


class AlterConfigsResponse(Value, frozen=True):
    error: ErrorCode
    error_message: str | None
    group_id: str


class ReadStateResponse(Value, frozen=True):
    """The whole group, and the basis of its responses (runtime/basis.py) as JSON. Group None: nothing is known of it."""

    error: ErrorCode
    group: Group | None = None
    basis_id: str = ""
    basis: bytes | None = None
    """None: the gateway has it."""


Response = (
    JoinGroupResponse
    | SyncGroupResponse
    | HeartbeatResponse
    | LeaveGroupResponse
    | OffsetCommitResponse
    | TxnOffsetCommitResponse
    | EndTxnResponse
    | OffsetFetchResponse
    | OffsetDeleteResponse
    | DeleteGroupResponse
    | DescribeGroupResponse
    | ConsumerGroupHeartbeatResponse
    | ConsumerGroupDescribeResponse
    | DescribeConfigsResponse
    | AlterConfigsResponse
    | ReadStateResponse
)


class Reply(Value, frozen=True):
    ticket: ReplyAddress
    response: Response
