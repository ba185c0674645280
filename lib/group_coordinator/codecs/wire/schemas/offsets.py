"""Offsets of groups: committed, fetched, deleted."""

from __future__ import annotations

from group_coordinator.binary.notation import (
    boolean,
    int16,
    int32,
    int32s,
    int64,
    string,
    structs,
    uuid,
)
from group_coordinator.codecs.wire.schemas.api import api

APIS = (
    api("OffsetCommit", 8, versions=(2, 10), flexible_since=8)
    .request(
        string("groupId"),
        int32("generationIdOrMemberEpoch", default=-1),
        string("memberId"),
        string("groupInstanceId", since=7, nullable=True, default=None),
        int64("retentionTimeMs", until=4, default=-1),
        structs(
            "topics",
            string("name", until=9),
            uuid("topicId", since=10),
            structs(
                "partitions",
                int32("partitionIndex"),
                int64("committedOffset"),
                int32("committedLeaderEpoch", since=6, default=-1),
                string("committedMetadata", nullable=True),
            ),
        ),
    )
    .response(
        int32("throttleTimeMs", since=3),
        structs(
            "topics",
            string("name", until=9),
            uuid("topicId", since=10),
            structs("partitions", int32("partitionIndex"), int16("errorCode")),
        ),
    ),
    api("OffsetFetch", 9, versions=(1, 10), flexible_since=6)
    .request(
        string("groupId", until=7),
        structs("topics", string("name"), int32s("partitionIndexes"), until=7, nullable_since=2),
        structs(
            "groups",
            string("groupId"),
            string("memberId", since=9, nullable=True, default=None),
            int32("memberEpoch", since=9, default=-1),
            structs(
                "topics",
                string("name", until=9),
                uuid("topicId", since=10),
                int32s("partitionIndexes"),
                nullable=True,
            ),
            since=8,
        ),
        boolean("requireStable", since=7),
    )
    .response(
        int32("throttleTimeMs", since=3),
        structs(
            "topics",
            string("name"),
            structs(
                "partitions",
                int32("partitionIndex"),
                int64("committedOffset"),
                int32("committedLeaderEpoch", since=5, default=-1),
                string("metadata", nullable=True),
                int16("errorCode"),
            ),
            until=7,
        ),
        int16("errorCode", since=2, until=7),
        structs(
            "groups",
            string("groupId"),
            structs(
                "topics",
                string("name", until=9),
                uuid("topicId", since=10),
                structs(
                    "partitions",
                    int32("partitionIndex"),
                    int64("committedOffset"),
                    int32("committedLeaderEpoch", default=-1),
                    string("metadata", nullable=True),
                    int16("errorCode"),
                ),
            ),
            int16("errorCode"),
            since=8,
        ),
    ),
    api("OffsetDelete", 47, versions=(0, 0))
    .request(
        string("groupId"),
        structs("topics", string("name"), structs("partitions", int32("partitionIndex"))),
    )
    .response(
        int16("errorCode"),
        int32("throttleTimeMs"),
        structs(
            "topics",
            string("name"),
            structs("partitions", int32("partitionIndex"), int16("errorCode")),
        ),
    ),
)
