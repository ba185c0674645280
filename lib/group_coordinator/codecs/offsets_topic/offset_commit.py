"""The value of record types 0 and 1 (LegacyOffsetCommitValue.json, OffsetCommitValue.json in Kafka)."""

from __future__ import annotations

from group_coordinator.codecs.fields import ABSENT, number_on_wire, number_or_none
from group_coordinator.codecs.offsets_topic.reader import Reader
from group_coordinator.codecs.offsets_topic.writer import Writer
from group_coordinator.codecs.uuids import uuid_or_none
from group_coordinator.core.model.offset import CommittedOffset
from group_coordinator.core.uuids import uuid_bytes, uuid_text

PART = "OffsetCommit value"
HIGHEST_VERSION = 4
_EXPIRE_TIMESTAMP_ONLY_IN = 1
_LEADER_EPOCH_SINCE = 3
_TOPIC_ID_TAG = 0
_UUID_SIZE = 16


def version_of(offset: CommittedOffset) -> int:
    """The version that Kafka writes: the newest, unless only an old one has a place for what is to be kept."""
    return HIGHEST_VERSION if offset.expire_timestamp_ms is None else _EXPIRE_TIMESTAMP_ONLY_IN


def write(writer: Writer, offset: CommittedOffset) -> None:
    """Write the fields of the writer's version; what it has no place for is left out, as Kafka does."""
    writer.int64("offset", offset.offset)
    if writer.version >= _LEADER_EPOCH_SINCE:
        writer.int32("leaderEpoch", number_on_wire(offset.leader_epoch))
    writer.text("metadata", offset.metadata)
    writer.int64("commitTimestamp", offset.commit_timestamp_ms)
    if writer.version == _EXPIRE_TIMESTAMP_ONLY_IN:
        writer.int64("expireTimestamp", number_on_wire(offset.expire_timestamp_ms))
    topic_id = uuid_or_none(offset.topic_id)
    writer.tagged_fields({} if topic_id is None else {_TOPIC_ID_TAG: uuid_bytes(topic_id)})


def read(reader: Reader) -> CommittedOffset:
    """Read the fields of the reader's version; what it has no place for is absent."""
    offset = reader.int64("offset")
    has_leader_epoch = reader.version >= _LEADER_EPOCH_SINCE
    leader_epoch = reader.int32("leaderEpoch") if has_leader_epoch else ABSENT
    metadata = reader.text("metadata")
    commit_timestamp_ms = reader.int64("commitTimestamp")
    has_expire_timestamp = reader.version == _EXPIRE_TIMESTAMP_ONLY_IN
    expire_timestamp_ms = reader.int64("expireTimestamp") if has_expire_timestamp else ABSENT
    return CommittedOffset(
        offset,
        number_or_none(leader_epoch),
        metadata,
        commit_timestamp_ms,
        number_or_none(expire_timestamp_ms),
        _read_topic_id(reader),
    )


def _read_topic_id(reader: Reader) -> str | None:
    uuid = reader.tagged_fields().get(_TOPIC_ID_TAG)
    if uuid is None:
        return None
    if len(uuid) != _UUID_SIZE:
        raise reader.fault("topicId", f"{len(uuid)} bytes are no uuid")
    return uuid_or_none(uuid_text(uuid))
