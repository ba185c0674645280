"""The values of record types 3 to 8 and 16 (ConsumerGroup*Value.json in Kafka): what consumer groups write (KIP-848).

All have one version, 0, which is flexible: what was added later is in tagged fields. Topics keep their order, which Kafka
leaves to hash maps, so that what was read is written again to the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from group_coordinator.codecs.offsets_topic.reader import Reader
from group_coordinator.codecs.offsets_topic.writer import Writer
from group_coordinator.codecs.records import consumer_values
from group_coordinator.codecs.records.consumer_values import TopicPartitions
from group_coordinator.core.model.classic_member import Protocol
from group_coordinator.core.model.consumer_member import (
    Assignment,
    ClassicMetadata,
    CurrentAssignment,
    GroupEpoch,
    OwnedPartitions,
    ResolvedRegex,
    SubscriptionMetadata,
    TargetEpoch,
)

HIGHEST_VERSION = 0
FLEXIBLE_SINCE = 0
_TAG = 0
"""No value has more than one tagged field."""


def write_group_epoch(writer: Writer, epoch: GroupEpoch) -> None:
    """Record type 3."""
    writer.int32("epoch", epoch.epoch)
    writer.tagged_fields(_tagged_number(writer, "metadataHash", epoch.metadata_hash))


def read_group_epoch(reader: Reader) -> GroupEpoch:
    """Record type 3."""
    return GroupEpoch(reader.int32("epoch"), _read_tagged_number(reader, "metadataHash"))


def write_target_epoch(writer: Writer, target: TargetEpoch) -> None:
    """Record type 6."""
    writer.int32("assignmentEpoch", target.epoch)
    writer.tagged_fields(_tagged_number(writer, "assignmentTimestamp", target.timestamp_ms))


def read_target_epoch(reader: Reader) -> TargetEpoch:
    """Record type 6."""
    epoch = reader.int32("assignmentEpoch")
    return TargetEpoch(epoch, _read_tagged_number(reader, "assignmentTimestamp"))


def _tagged_number(writer: Writer, field: str, number: int) -> Mapping[int, bytes]:
    """0 is left out."""
    if number == 0:
        return {}
    inner = writer.inside()
    inner.int64(field, number)
    return {_TAG: inner.done()}


def _read_tagged_number(reader: Reader, field: str) -> int:
    data = reader.tagged_fields().get(_TAG)
    return 0 if data is None else reader.inside(data).int64(field)


def write_member(writer: Writer, member: SubscriptionMetadata) -> None:
    """Record type 5; what a member of the classic protocol has beside is always written, null for the others."""
    writer.text("instanceId", member.group_instance_id)
    writer.text("rackId", member.rack_id)
    writer.text("clientId", member.client_id)
    writer.text("clientHost", member.client_host)
    writer.texts("subscribedTopicNames", member.topic_names)
    writer.text("subscribedTopicRegex", member.topic_regex or "")
    writer.int32("rebalanceTimeoutMs", member.rebalance_timeout_ms)
    writer.text("serverAssignor", member.server_assignor)
    inner = writer.inside()
    inner.is_null(is_null=member.classic is None)
    if member.classic is not None:
        _write_classic(inner, member.classic)
    writer.tagged_fields({_TAG: inner.done()})


def _write_classic(writer: Writer, classic: ClassicMetadata) -> None:
    writer.int32("sessionTimeoutMs", classic.session_timeout_ms)
    writer.count("supportedProtocols", len(classic.protocols))
    for protocol in classic.protocols:
        writer.text("name", protocol.name)
        writer.blob("metadata", protocol.metadata)
        writer.tagged_fields({})
    writer.tagged_fields({})


def read_member(reader: Reader) -> SubscriptionMetadata:
    """Record type 5."""
    return SubscriptionMetadata(
        reader.text_or_none("instanceId"),
        reader.text_or_none("rackId"),
        reader.text("clientId"),
        reader.text("clientHost"),
        consumer_values.topic_names(reader.texts("subscribedTopicNames")),
        reader.text_or_none("subscribedTopicRegex") or None,
        reader.int32("rebalanceTimeoutMs"),
        reader.text_or_none("serverAssignor"),
        _read_classic(reader),
    )


def _read_classic(reader: Reader) -> ClassicMetadata | None:
    data = reader.tagged_fields().get(_TAG)
    if data is None:
        return None
    inner = reader.inside(data)
    if inner.is_null("classicMemberMetadata"):
        return None
    session_timeout_ms = inner.int32("sessionTimeoutMs")
    protocols = [_read_protocol(inner) for _ in range(inner.count("supportedProtocols"))]
    inner.tagged_fields()
    inner.end()
    return ClassicMetadata(session_timeout_ms, tuple(protocols))


def _read_protocol(reader: Reader) -> Protocol:
    name, metadata = reader.text("name"), reader.blob("metadata")
    reader.tagged_fields()
    return consumer_values.classic_protocol(name, metadata)


def write_target(writer: Writer, assignment: Assignment) -> None:
    """Record type 7."""
    writer.count("topicPartitions", len(assignment))
    for topic_id, partitions in assignment.items():
        writer.uuid(topic_id)
        writer.int32s("partitions", partitions)
        writer.tagged_fields({})
    writer.tagged_fields({})


def read_target(reader: Reader) -> Assignment:
    """Record type 7."""
    topics = _read_topics(reader, "topicPartitions")
    reader.tagged_fields()
    return consumer_values.assignment(topics)


def write_current(writer: Writer, current: CurrentAssignment) -> None:
    """Record type 8."""
    writer.int32("memberEpoch", current.epoch)
    writer.int32("previousMemberEpoch", current.previous_epoch)
    writer.int8("state", current.state)
    _write_owned(writer, "assignedPartitions", current.assigned)
    _write_owned(writer, "partitionsPendingRevocation", current.pending_revocation)
    writer.tagged_fields({})


def _write_owned(writer: Writer, field: str, owned: OwnedPartitions) -> None:
    writer.count(field, len(owned))
    for topic_id, partitions in owned.items():
        writer.uuid(topic_id)
        writer.int32s("partitions", sorted(partitions))
        inner = writer.inside()
        inner.int32s("assignmentEpochs", [epoch for _, epoch in sorted(partitions.items())])
        writer.tagged_fields({_TAG: inner.done()})


def read_current(reader: Reader) -> CurrentAssignment:
    """Record type 8."""
    epoch, previous_epoch = reader.int32("memberEpoch"), reader.int32("previousMemberEpoch")
    state = consumer_values.member_state(reader.int8("state"))
    assigned = _read_topics(reader, "assignedPartitions")
    pending = _read_topics(reader, "partitionsPendingRevocation")
    reader.tagged_fields()
    return CurrentAssignment(
        epoch,
        previous_epoch,
        state,
        consumer_values.owned_partitions(assigned, epoch),
        consumer_values.owned_partitions(pending, epoch),
    )


def _read_topics(reader: Reader, field: str) -> list[TopicPartitions]:
    return [_read_topic(reader) for _ in range(reader.count(field))]


def _read_topic(reader: Reader) -> TopicPartitions:
    topic_id, partitions = reader.uuid("topicId"), reader.int32s("partitions")
    return TopicPartitions(topic_id, partitions, _read_epochs(reader))


def _read_epochs(reader: Reader) -> Sequence[int] | None:
    """Only record type 8 has them, since Kafka 4.3."""
    data = reader.tagged_fields().get(_TAG)
    if data is None:
        return None
    inner = reader.inside(data)
    count = inner.count_or_none("assignmentEpochs")
    return None if count is None else [inner.int32("assignmentEpochs") for _ in range(count)]


def write_regex(writer: Writer, regex: ResolvedRegex) -> None:
    """Record type 16."""
    writer.texts("topics", regex.topics)
    writer.int64("version", regex.version)
    writer.int64("timestamp", regex.timestamp_ms)
    writer.tagged_fields({})


def read_regex(reader: Reader) -> ResolvedRegex:
    """Record type 16."""
    topics = consumer_values.topic_names(reader.texts("topics"))
    version, timestamp_ms = reader.int64("version"), reader.int64("timestamp")
    reader.tagged_fields()
    return ResolvedRegex(topics, version, timestamp_ms)
