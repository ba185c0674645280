"""APIs of partitions' records: write, read, find and delete."""

from __future__ import annotations

from group_coordinator.binary.notation import (
    int8,
    int16,
    int32,
    int32s,
    int64,
    records,
    string,
    struct,
    structs,
    uuid,
)
from group_coordinator.codecs.fields import HIGHEST_INT32, HIGHEST_INT64
from group_coordinator.codecs.wire.schemas.api import api

_LEADER = (int32("leaderId", default=-1), int32("leaderEpoch", default=-1))
_ENDPOINT = (
    int32("nodeId"),
    string("host"),
    int32("port"),
    string("rack", nullable=True, default=None),
)

APIS = (
    api("Produce", 0, versions=(3, 13), flexible_since=9).with_messages(
        request=[
            string("transactionalId", nullable=True, default=None),
            int16("acks"),
            int32("timeoutMs"),
            structs("topicData")[
                string("name", until=12),
                uuid("topicId", since=13),
                structs("partitionData")[int32("index"), records("records", nullable=True)],
            ],
        ],
        response=[
            structs("responses")[
                string("name", until=12),
                uuid("topicId", since=13),
                structs("partitionResponses")[
                    int32("index"),
                    int16("errorCode"),
                    int64("baseOffset"),
                    int64("logAppendTimeMs", default=-1),
                    int64("logStartOffset", since=5, default=-1),
                    structs("recordErrors", since=8)[
                        int32("batchIndex"),
                        string("batchIndexErrorMessage", nullable=True, default=None),
                    ],
                    string("errorMessage", since=8, nullable=True, default=None),
                    struct("currentLeader", since=10, tag=0)[*_LEADER],
                ],
            ],
            int32("throttleTimeMs"),
            structs("nodeEndpoints", since=10, tag=0)[*_ENDPOINT],
        ],
    ),
    api("Fetch", 1, versions=(4, 18), flexible_since=12).with_messages(
        request=[
            string("clusterId", since=12, nullable=True, tag=0, default=None),
            int32("replicaId", until=14, default=-1),
            struct("replicaState", since=15, tag=1)[
                int32("replicaId", default=-1), int64("replicaEpoch", default=-1)
            ],
            int32("maxWaitMs"),
            int32("minBytes"),
            int32("maxBytes", default=HIGHEST_INT32),
            int8("isolationLevel"),
            int32("sessionId", since=7),
            int32("sessionEpoch", since=7, default=-1),
            structs("topics")[
                string("topic", until=12),
                uuid("topicId", since=13),
                structs("partitions")[
                    int32("partition"),
                    int32("currentLeaderEpoch", since=9, default=-1),
                    int64("fetchOffset"),
                    int32("lastFetchedEpoch", since=12, default=-1),
                    int64("logStartOffset", since=5, default=-1),
                    int32("partitionMaxBytes"),
                    uuid("replicaDirectoryId", since=17, tag=0),
                    int64("highWatermark", since=18, tag=1, default=HIGHEST_INT64),
                ],
            ],
            structs("forgottenTopicsData", since=7)[
                string("topic", until=12), uuid("topicId", since=13), int32s("partitions")
            ],
            string("rackId", since=11),
        ],
        response=[
            int32("throttleTimeMs"),
            int16("errorCode", since=7),
            int32("sessionId", since=7),
            structs("responses")[
                string("topic", until=12),
                uuid("topicId", since=13),
                structs("partitions")[
                    int32("partitionIndex"),
                    int16("errorCode"),
                    int64("highWatermark"),
                    int64("lastStableOffset", default=-1),
                    int64("logStartOffset", since=5, default=-1),
                    struct("divergingEpoch", since=12, tag=0)[
                        int32("epoch", default=-1), int64("endOffset", default=-1)
                    ],
                    struct("currentLeader", since=12, tag=1)[*_LEADER],
                    struct("snapshotId", since=12, tag=2)[
                        int64("endOffset", default=-1), int32("epoch", default=-1)
                    ],
                    structs("abortedTransactions", nullable=True)[
                        int64("producerId"), int64("firstOffset")
                    ],
                    int32("preferredReadReplica", since=11, default=-1),
                    records("records", nullable=True),
                ],
            ],
            structs("nodeEndpoints", since=16, tag=0)[*_ENDPOINT],
        ],
    ),
    api("ListOffsets", 2, versions=(1, 11), flexible_since=6).with_messages(
        request=[
            int32("replicaId"),
            int8("isolationLevel", since=2),
            structs("topics")[
                string("name"),
                structs("partitions")[
                    int32("partitionIndex"),
                    int32("currentLeaderEpoch", since=4, default=-1),
                    int64("timestamp"),
                ],
            ],
            int32("timeoutMs", since=10),
        ],
        response=[
            int32("throttleTimeMs", since=2),
            structs("topics")[
                string("name"),
                structs("partitions")[
                    int32("partitionIndex"),
                    int16("errorCode"),
                    int64("timestamp", default=-1),
                    int64("offset", default=-1),
                    int32("leaderEpoch", since=4, default=-1),
                ],
            ],
        ],
    ),
    api("OffsetForLeaderEpoch", 23, versions=(2, 4), flexible_since=4).with_messages(
        request=[
            int32("replicaId", since=3, default=-2),
            structs("topics")[
                string("topic"),
                structs("partitions")[
                    int32("partition"),
                    int32("currentLeaderEpoch", default=-1),
                    int32("leaderEpoch"),
                ],
            ],
        ]
    ),
    api("DeleteRecords", 21, versions=(0, 2), flexible_since=2).with_messages(
        request=[
            structs("topics")[
                string("name"), structs("partitions")[int32("partitionIndex"), int64("offset")]
            ],
            int32("timeoutMs"),
        ]
    ),
)
