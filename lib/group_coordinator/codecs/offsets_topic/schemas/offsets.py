"""Record types 0 and 1: a committed offset."""

from __future__ import annotations

from group_coordinator.codecs.offsets_topic.schemas.fields import (
    Field,
    RecordSchema,
    Scalar,
    TaggedField,
    struct,
)
from group_coordinator.codecs.records import record_types
from group_coordinator.codecs.uuids import ZERO_UUID

_KEY = struct(
    Field("group", Scalar.STRING),
    Field("topic", Scalar.STRING),
    Field("partition", Scalar.INT32),
)
_LEGACY_VALUE = struct(
    Field("offset", Scalar.INT64),
    Field("metadata", Scalar.STRING),
    Field("commitTimestamp", Scalar.INT64),
)
_VALUE = struct(
    Field("offset", Scalar.INT64),
    Field("leaderEpoch", Scalar.INT32, since=3),
    Field("metadata", Scalar.STRING),
    Field("commitTimestamp", Scalar.INT64),
    Field("expireTimestamp", Scalar.INT64, since=1, until=1),
    TaggedField("topicId", Scalar.UUID, since=4, tag=0, default=ZERO_UUID),
)

SCHEMAS = (
    RecordSchema(
        record_types.LEGACY_OFFSET_COMMIT,
        "LegacyOffsetCommit",
        _KEY,
        _LEGACY_VALUE,
        flexible_since=None,
    ),
    RecordSchema(
        record_types.OFFSET_COMMIT,
        "OffsetCommit",
        _KEY,
        _VALUE,
        highest_version=4,
        flexible_since=4,
    ),
)
