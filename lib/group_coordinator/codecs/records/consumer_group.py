"""Record types 3, 4, 6 and 16 (ConsumerGroup*.json in Kafka) of consumer groups (KIP-848), and values for members' records."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias, assert_never

from msgspec import Struct, json

from group_coordinator.codecs.records import record_types
from group_coordinator.codecs.records.record_types import Key, LogEntry, RecordValue
from group_coordinator.core.assignors.spec import Assignment
from group_coordinator.core.model.consumer_member import (
    GroupEpoch,
    OwnedPartitions,
    ReconciliationState,
    ResolvedRegex,
    TargetEpoch,
)
from group_coordinator.core.model.records import (
    GroupEpochRecord,
    PartitionMetadataTombstone,
    Reason,
    RegexRecord,
    TargetEpochRecord,
)


class TopicPartitionsData(Struct, frozen=True, gc=False, omit_defaults=True, rename="camel"):
    """Partitions of a topic. Only the current assignment has the epochs of their assignment, since Kafka 4.3."""

    topic_id: str
    partitions: Sequence[int]
    assignment_epochs: Sequence[int] | None = None


def topic_names(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names sorted, without repetition."""
    # A log of another coordinator may have them in any order.
    return tuple(sorted(set(names)))


def member_state(number: int) -> ReconciliationState:
    """Convert the number of a member's state. Numbers that Kafka 4.4 does not know are UNKNOWN."""
    try:
        return ReconciliationState(number)
    except ValueError:
        return ReconciliationState.UNKNOWN


def assignment(topics: Iterable[TopicPartitionsData]) -> Assignment:
    """Convert a target assignment. The order of its topics stays."""
    return {topic.topic_id: tuple(sorted(topic.partitions)) for topic in topics if topic.partitions}


def owned_partitions(topics: Iterable[TopicPartitionsData], member_epoch: int) -> OwnedPartitions:
    """Convert partitions with the epochs of their assignment, else the member's own (Utils.assignmentFromTopicPartitions)."""
    return {
        topic.topic_id: dict(
            sorted(zip(topic.partitions, _epochs(topic, member_epoch), strict=True))
        )
        for topic in topics
        if topic.partitions
    }


def _epochs(topic: TopicPartitionsData, member_epoch: int) -> Sequence[int]:
    epochs = topic.assignment_epochs
    # Brokers before Kafka 4.3 write no epochs.
    if epochs is None or len(epochs) != len(topic.partitions):
        return [max(member_epoch, 0)] * len(topic.partitions)
    return epochs


RecordOfGroup: TypeAlias = (
    GroupEpochRecord | PartitionMetadataTombstone | TargetEpochRecord | RegexRecord
)


class ConsumerGroupKeyData(Struct, frozen=True, gc=False, rename="camel"):
    group_id: str


class RegexKeyData(Struct, frozen=True, gc=False, rename="camel"):
    """A regular expression to which members of the group subscribe."""

    group_id: str
    regular_expression: str


class GroupEpochData(Struct, frozen=True, gc=False, omit_defaults=True, rename="camel"):
    epoch: int
    metadata_hash: int = 0


class TargetEpochData(Struct, frozen=True, gc=False, omit_defaults=True, rename="camel"):
    assignment_epoch: int
    assignment_timestamp: int = 0


class RegexData(Struct, frozen=True, gc=False):
    topics: list[str]
    version: int
    timestamp: int


ValueOfGroup: TypeAlias = (
    RecordValue[GroupEpochData] | RecordValue[TargetEpochData] | RecordValue[RegexData]
)

_decode_regex_key = json.Decoder(Key[RegexKeyData]).decode
_decode_group_epoch = json.Decoder(RecordValue[GroupEpochData]).decode
_decode_target_epoch = json.Decoder(RecordValue[TargetEpochData]).decode
_decode_regex = json.Decoder(RecordValue[RegexData]).decode


def encode(group_id: str, record: RecordOfGroup) -> LogEntry:
    return LogEntry(_key(group_id, record), _value(record))


def _key(group_id: str, record: RecordOfGroup) -> Key[ConsumerGroupKeyData] | Key[RegexKeyData]:
    record_type = record_types.OF_CONSUMER_GROUPS[type(record)]
    if isinstance(record, RegexRecord):
        return Key(record_type, RegexKeyData(group_id, record.regex))
    return Key(record_type, ConsumerGroupKeyData(group_id))


def _value(record: RecordOfGroup) -> ValueOfGroup | None:
    match record.value:
        case None:
            return None
        case GroupEpoch() as epoch:
            return RecordValue(data=GroupEpochData(epoch.epoch, epoch.metadata_hash))
        case TargetEpoch() as target:
            return RecordValue(data=TargetEpochData(target.epoch, target.timestamp_ms))
        case ResolvedRegex() as regex:
            return RecordValue(
                data=RegexData(list(regex.topics), regex.version, regex.timestamp_ms)
            )
        case _:
            assert_never(record.value)


def decode(record_type: int, key: str, value: str | None, reason: Reason) -> RecordOfGroup:
    """Return the record of a log entry of these types. Values of type 4, which older brokers wrote, are dropped."""
    match record_type:
        case record_types.GROUP_EPOCH:
            return GroupEpochRecord(None if value is None else _group_epoch(value), reason)
        case record_types.TARGET_EPOCH:
            return TargetEpochRecord(None if value is None else _target_epoch(value), reason)
        case record_types.REGULAR_EXPRESSION:
            pattern = _decode_regex_key(key).data.regular_expression
            return RegexRecord(pattern, None if value is None else _regex(value), reason)
        case _:
            # Kafka 4.1 and later reads metadata from the cluster, and only removes these records.
            return PartitionMetadataTombstone(reason)


def _group_epoch(value: str) -> GroupEpoch:
    data = _decode_group_epoch(value).data
    return GroupEpoch(data.epoch, data.metadata_hash)


def _target_epoch(value: str) -> TargetEpoch:
    data = _decode_target_epoch(value).data
    return TargetEpoch(data.assignment_epoch, data.assignment_timestamp)


def _regex(value: str) -> ResolvedRegex:
    data = _decode_regex(value).data
    return ResolvedRegex(topic_names(data.topics), data.version, data.timestamp)
