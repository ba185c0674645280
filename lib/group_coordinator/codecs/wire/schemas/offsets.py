"""APIs of offsets and transactions: commit, fetch and delete offsets; producers, partitions and ends of transactions."""

from __future__ import annotations

from collections.abc import Iterable

from group_coordinator.binary.notation import (
    Field,
    boolean,
    int16,
    int32,
    int32s,
    int64,
    int64s,
    string,
    strings,
    structs,
    uuid,
)
from group_coordinator.codecs.wire.schemas.api import api

_TOPIC = (string("name"), int32s("partitions"))
_TOPIC_RESULT = (
    string("name"),
    structs("resultsByPartition")[int32("partitionIndex"), int16("partitionErrorCode")],
)
_PARTITION_RESULT = (int32("partitionIndex"), int16("errorCode"))


def _topics(last_named: int, partition: Iterable[Field]) -> Field:
    """Define an array of topics, which have names until a version and ids after it."""
    return structs("topics")[
        string("name", until=last_named),
        uuid("topicId", since=last_named + 1),
        structs("partitions")[*partition],
    ]


APIS = (
    api("OffsetCommit", 8, versions=(2, 10), flexible_since=8).with_messages(
        request=[
            string("groupId"),
            int32("generationIdOrMemberEpoch", default=-1),
            string("memberId"),
            string("groupInstanceId", since=7, nullable=True, default=None),
            int64("retentionTimeMs", until=4, default=-1),
            _topics(
                9,
                [
                    int32("partitionIndex"),
                    int64("committedOffset"),
                    int32("committedLeaderEpoch", since=6, default=-1),
                    string("committedMetadata", nullable=True),
                ],
            ),
        ],
        response=[int32("throttleTimeMs", since=3), _topics(9, _PARTITION_RESULT)],
    ),
    api("OffsetFetch", 9, versions=(1, 10), flexible_since=6).with_messages(
        request=[
            string("groupId", until=7),
            structs("topics", until=7, nullable_since=2)[
                string("name"), int32s("partitionIndexes")
            ],
            structs("groups", since=8)[
                string("groupId"),
                string("memberId", since=9, nullable=True, default=None),
                int32("memberEpoch", since=9, default=-1),
                structs("topics", nullable=True)[
                    string("name", until=9), uuid("topicId", since=10), int32s("partitionIndexes")
                ],
            ],
            boolean("requireStable", since=7),
        ],
        response=[
            int32("throttleTimeMs", since=3),
            structs("topics", until=7)[
                string("name"),
                structs("partitions")[
                    int32("partitionIndex"),
                    int64("committedOffset"),
                    int32("committedLeaderEpoch", since=5, default=-1),
                    string("metadata", nullable=True),
                    int16("errorCode"),
                ],
            ],
            int16("errorCode", since=2, until=7),
            structs("groups", since=8)[
                string("groupId"),
                _topics(
                    9,
                    [
                        int32("partitionIndex"),
                        int64("committedOffset"),
                        int32("committedLeaderEpoch", default=-1),
                        string("metadata", nullable=True),
                        int16("errorCode"),
                    ],
                ),
                int16("errorCode"),
            ],
        ],
    ),
    api("OffsetDelete", 47, versions=(0, 0)).with_messages(
        request=[
            string("groupId"),
            structs("topics")[string("name"), structs("partitions")[int32("partitionIndex")]],
        ],
        response=[
            int16("errorCode"),
            int32("throttleTimeMs"),
            structs("topics")[string("name"), structs("partitions")[*_PARTITION_RESULT]],
        ],
    ),
    api("InitProducerId", 22, versions=(0, 6), flexible_since=2).with_messages(
        request=[
            string("transactionalId", nullable=True),
            int32("transactionTimeoutMs"),
            int64("producerId", since=3, default=-1),
            int16("producerEpoch", since=3, default=-1),
            boolean("enable2Pc", since=6),
            boolean("keepPreparedTxn", since=6),
        ],
        response=[
            int32("throttleTimeMs"),
            int16("errorCode"),
            int64("producerId", default=-1),
            int16("producerEpoch"),
            int64("ongoingTxnProducerId", since=6, default=-1),
            int16("ongoingTxnProducerEpoch", since=6, default=-1),
        ],
    ),
    api("AddPartitionsToTxn", 24, versions=(0, 5), flexible_since=3).with_messages(
        request=[
            structs("transactions", since=4)[
                string("transactionalId"),
                int64("producerId"),
                int16("producerEpoch"),
                boolean("verifyOnly"),
                structs("topics")[*_TOPIC],
            ],
            string("v3AndBelowTransactionalId", until=3),
            int64("v3AndBelowProducerId", until=3),
            int16("v3AndBelowProducerEpoch", until=3),
            structs("v3AndBelowTopics", until=3)[*_TOPIC],
        ],
        response=[
            int32("throttleTimeMs"),
            int16("errorCode", since=4),
            structs("resultsByTransaction", since=4)[
                string("transactionalId"), structs("topicResults")[*_TOPIC_RESULT]
            ],
            structs("resultsByTopicV3AndBelow", until=3)[*_TOPIC_RESULT],
        ],
    ),
    api("AddOffsetsToTxn", 25, versions=(0, 4), flexible_since=3).with_messages(
        request=[
            string("transactionalId"),
            int64("producerId"),
            int16("producerEpoch"),
            string("groupId"),
        ],
        response=[int32("throttleTimeMs"), int16("errorCode")],
    ),
    api("TxnOffsetCommit", 28, versions=(0, 6), flexible_since=3).with_messages(
        request=[
            string("transactionalId"),
            string("groupId"),
            int64("producerId"),
            int16("producerEpoch"),
            int32("generationIdOrMemberEpoch", since=3, default=-1),
            string("memberId", since=3),
            string("groupInstanceId", since=3, nullable=True, default=None),
            _topics(
                5,
                [
                    int32("partitionIndex"),
                    int64("committedOffset"),
                    int32("committedLeaderEpoch", since=2, default=-1),
                    string("committedMetadata", nullable=True),
                ],
            ),
        ],
        response=[int32("throttleTimeMs"), _topics(5, _PARTITION_RESULT)],
    ),
    api("EndTxn", 26, versions=(0, 5), flexible_since=3).with_messages(
        request=[
            string("transactionalId"),
            int64("producerId"),
            int16("producerEpoch"),
            boolean("committed"),
        ],
        response=[
            int32("throttleTimeMs"),
            int16("errorCode"),
            int64("producerId", since=5, default=-1),
            int16("producerEpoch", since=5, default=-1),
        ],
    ),
    api("DescribeTransactions", 65, versions=(0, 0), flexible_since=0).with_messages(
        request=[strings("transactionalIds")],
        response=[
            int32("throttleTimeMs"),
            structs("transactionStates")[
                int16("errorCode"),
                string("transactionalId"),
                string("transactionState"),
                int32("transactionTimeoutMs"),
                int64("transactionStartTimeMs"),
                int64("producerId"),
                int16("producerEpoch"),
                structs("topics")[string("topic"), int32s("partitions")],
            ],
        ],
    ),
    api("ListTransactions", 66, versions=(0, 2), flexible_since=0).with_messages(
        request=[
            strings("stateFilters"),
            int64s("producerIdFilters"),
            int64("durationFilter", since=1, default=-1),
            string("transactionalIdPattern", since=2, nullable=True, default=None),
        ]
    ),
    api("DescribeProducers", 61, versions=(0, 0), flexible_since=0).with_messages(
        request=[structs("topics")[string("name"), int32s("partitionIndexes")]]
    ),
    api("DescribeShareGroupOffsets", 90, versions=(0, 1), flexible_since=0).with_messages(
        request=[
            structs("groups")[
                string("groupId"),
                structs("topics", nullable=True)[string("topicName"), int32s("partitions")],
            ]
        ],
        response=[
            int32("throttleTimeMs"),
            structs("groups")[
                string("groupId"),
                structs("topics")[
                    string("topicName"),
                    uuid("topicId"),
                    structs("partitions")[
                        int32("partitionIndex"),
                        int64("startOffset"),
                        int32("leaderEpoch"),
                        int64("lag", since=1, default=-1),
                        int16("errorCode"),
                        string("errorMessage", nullable=True, default=None),
                    ],
                ],
                int16("errorCode"),
                string("errorMessage", nullable=True, default=None),
            ],
        ],
    ),
)
