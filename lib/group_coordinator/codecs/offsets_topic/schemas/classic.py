"""Record type 2: a classic group."""

from __future__ import annotations

from group_coordinator.binary.notation import blob, int32, int64, string, structs
from group_coordinator.codecs.offsets_topic.schemas.record import record
from group_coordinator.codecs.records import record_types

RECORDS = (
    record(
        record_types.GROUP_METADATA,
        "GroupMetadata",
        key=(string("group"),),
        value=(
            string("protocolType"),
            int32("generation"),
            string("protocol", nullable=True),
            string("leader", nullable=True),
            int64("currentStateTimestamp", since=2, default=-1),
            structs(
                "members",
                string("memberId"),
                string("groupInstanceId", since=3, nullable=True, default=None),
                string("clientId"),
                string("clientHost"),
                int32("rebalanceTimeout", since=1, default=-1),
                int32("sessionTimeout"),
                blob("subscription"),
                blob("assignment"),
            ),
        ),
        last_version=4,
        flexible_since=4,
    ),
)
