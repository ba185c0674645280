"""Record type 2: a classic group."""

from __future__ import annotations

from group_coordinator.codecs.offsets_topic.schemas.fields import (
    ArrayOf,
    Field,
    RecordSchema,
    Scalar,
    struct,
)
from group_coordinator.codecs.records import record_types

_MEMBER = struct(
    Field("memberId", Scalar.STRING),
    Field("groupInstanceId", Scalar.STRING, since=3, nullable=True),
    Field("clientId", Scalar.STRING),
    Field("clientHost", Scalar.STRING),
    Field("rebalanceTimeout", Scalar.INT32, since=1),
    Field("sessionTimeout", Scalar.INT32),
    Field("subscription", Scalar.BYTES),
    Field("assignment", Scalar.BYTES),
)
_VALUE = struct(
    Field("protocolType", Scalar.STRING),
    Field("generation", Scalar.INT32),
    Field("protocol", Scalar.STRING, nullable=True),
    Field("leader", Scalar.STRING, nullable=True),
    Field("currentStateTimestamp", Scalar.INT64, since=2),
    Field("members", ArrayOf(_MEMBER)),
)

SCHEMAS = (
    RecordSchema(
        record_types.GROUP_METADATA,
        "GroupMetadata",
        struct(Field("group", Scalar.STRING)),
        _VALUE,
        highest_version=4,
        flexible_since=4,
    ),
)
