"""The answers of the coordinator; the codec writes them in the request's version."""

from __future__ import annotations

from enum import IntEnum

from group_coordinator.core.model.classic_member import Ticket
from group_coordinator.core.model.consumer_member import Assignment, ConsumerMember
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.topic import Topic
from group_coordinator.core.value import Value


class JoinedMember(Value, frozen=True):
    """A member as the leader sees it: its metadata for the chosen protocol."""

    member_id: str
    group_instance_id: str | None
    metadata: bytes


class JoinGroupResponse(Value, frozen=True):
    """Only the leader gets members; generation None is -1 on the wire."""

    error: ErrorCode
    member_id: str
    generation: int | None = None
    protocol_type: str | None = None
    protocol: str | None = None
    leader: str = ""
    skip_assignment: bool = False
    members: tuple[JoinedMember, ...] = ()


class SyncGroupResponse(Value, frozen=True):
    """The member's own assignment."""

    error: ErrorCode
    protocol_type: str | None = None
    protocol: str | None = None
    assignment: bytes = b""


class HeartbeatResponse(Value, frozen=True):
    """REBALANCE_IN_PROGRESS asks the member to join again."""

    error: ErrorCode


class MemberResult(Value, frozen=True):
    """The result for one leaving member."""

    member_id: str
    group_instance_id: str | None
    error: ErrorCode


class LeaveGroupResponse(Value, frozen=True):
    """Up to version 2 the only member's error is the answer's error."""

    error: ErrorCode
    members: tuple[MemberResult, ...] = ()


class PartitionResult(Value, frozen=True):
    """The outcome for one partition."""

    partition: int
    error: ErrorCode


class TopicResult(Value, frozen=True):
    """The outcome for a topic's partitions, named or by id as it was asked."""

    name: str | None
    topic_id: str | None
    partitions: tuple[PartitionResult, ...]


class OffsetCommitResponse(Value, frozen=True):
    """One result a partition; there is no error of the whole."""

    topics: tuple[TopicResult, ...]


class TxnOffsetCommitResponse(Value, frozen=True):
    """One result a partition; there is no error of the whole."""

    topics: tuple[TopicResult, ...]


class EndTxnResponse(Value, frozen=True):
    """The marker is in the group's log."""

    error: ErrorCode


class FetchedPartition(Value, frozen=True):
    """A committed offset; offset None is -1 on the wire: nothing is committed."""

    partition: int
    offset: int | None = None
    leader_epoch: int | None = None
    metadata: str = ""
    error: ErrorCode = ErrorCode.NONE


class FetchedTopic(Value, frozen=True):
    """The committed offsets of one topic."""

    name: str | None
    topic_id: str | None
    partitions: tuple[FetchedPartition, ...]


class OffsetFetchResponse(Value, frozen=True):
    """The offsets of one group."""

    error: ErrorCode
    group_id: str
    topics: tuple[FetchedTopic, ...] = ()


class OffsetDeleteResponse(Value, frozen=True):
    """A top-level error comes without topics."""

    error: ErrorCode
    topics: tuple[TopicResult, ...] = ()


class DeleteGroupResponse(Value, frozen=True):
    """The one result of a DeleteGroups."""

    error: ErrorCode
    group_id: str


class DescribedMember(Value, frozen=True):
    """A member of a described group; the metadata only while the group is Stable."""

    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    metadata: bytes
    assignment: bytes


class DescribeGroupResponse(Value, frozen=True):
    """The one group of a DescribeGroups."""

    error: ErrorCode
    error_message: str | None
    group_id: str
    state: str = ""
    protocol_type: str = ""
    protocol: str = ""
    members: tuple[DescribedMember, ...] = ()
    operations: int | None = None
    """What the asker may do with the group, a bit for each of Kafka's AclOperations; None: not asked for."""


class ConsumerGroupHeartbeatResponse(Value, frozen=True):
    """A member's epoch and assignment; assignment None: as in the answer before."""

    error: ErrorCode
    error_message: str | None = None
    member_id: str | None = None
    member_epoch: int = 0
    heartbeat_interval_ms: int = 0
    assignment: Assignment | None = None


class DescribedConsumer(Value, frozen=True):
    """A member of a described consumer group; assignments are pairs (topic, partitions), as far as topics are known."""

    member: ConsumerMember
    assignment: tuple[tuple[Topic, tuple[int, ...]], ...]
    target: tuple[tuple[Topic, tuple[int, ...]], ...]


class ConsumerGroupDescribeResponse(Value, frozen=True):
    """The one group of a ConsumerGroupDescribe."""

    error: ErrorCode
    error_message: str | None
    group_id: str
    state: str = ""
    epoch: int = 0
    assignment_epoch: int = 0
    assignor: str = ""
    members: tuple[DescribedConsumer, ...] = ()
    operations: int | None = None
    """As in DescribeGroupResponse."""


class ConfigSource(IntEnum):
    """Where the value of a setting comes from; the numbers are Kafka's."""

    STATIC_BROKER_CONFIG = 4
    DEFAULT_CONFIG = 5
    GROUP_CONFIG = 8


class ConfigType(IntEnum):
    """What the value of a setting is; the numbers are Kafka's."""

    BOOLEAN = 1
    STRING = 2
    INT = 3
    LONG = 5
    LIST = 7


class ConfigSynonym(Value, frozen=True):
    """A place that the value of a setting may come from."""

    name: str
    value: str
    source: ConfigSource


class DescribedConfig(Value, frozen=True):
    """A setting of a group."""

    name: str
    value: str
    source: ConfigSource
    synonyms: tuple[ConfigSynonym, ...]
    documentation: str | None
    type: ConfigType = ConfigType.INT


class DescribeConfigsResponse(Value, frozen=True):
    """The one resource of a DescribeConfigs."""

    error: ErrorCode
    error_message: str | None
    group_id: str
    configs: tuple[DescribedConfig, ...] = ()


class AlterConfigsResponse(Value, frozen=True):
    """The one resource of an IncrementalAlterConfigs."""

    error: ErrorCode
    error_message: str | None
    group_id: str


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
)


class Reply(Value, frozen=True):
    """An answer, and the request that it is for."""

    ticket: Ticket
    response: Response
