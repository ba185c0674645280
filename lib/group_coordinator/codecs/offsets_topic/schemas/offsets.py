"""Record types 0 and 1: a committed offset."""

from __future__ import annotations

from group_coordinator.binary.notation import int32, int64, string, uuid
from group_coordinator.codecs.offsets_topic.schemas.record import record
from group_coordinator.codecs.records import record_types

_KEY = (string("group"), string("topic"), int32("partition"))

RECORDS = (
    record(
        record_types.LEGACY_OFFSET_COMMIT,
        "LegacyOffsetCommit",
        key=_KEY,
        value=(int64("offset"), string("metadata"), int64("commitTimestamp")),
        flexible_since=None,
    ),
    record(
        record_types.OFFSET_COMMIT,
        "OffsetCommit",
        key=_KEY,
        value=(
            int64("offset"),
            int32("leaderEpoch", since=3, default=-1),
            string("metadata"),
            int64("commitTimestamp"),
            int64("expireTimestamp", since=1, until=1, default=-1),
            uuid("topicId", since=4, tag=0),
        ),
        last_version=4,
        flexible_since=4,
    ),
)
