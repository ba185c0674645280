"""Tables of samples: topic_positions has the offsets of a cluster's partitions, share_group_offsets those of share groups."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from group_coordinator.tables.definition import (
    CLUSTER_ID,
    GROUP_ID,
    OFFSET_KEY,
    SAMPLED_AT,
    described,
    table_of,
)
from group_coordinator.tables.position import Position, ShareOffset

TOPIC_POSITIONS = table_of(
    "topic_positions",
    "A row for each sample of a partition: start and end of its readable log",
    [
        CLUSTER_ID,
        *described(
            """
            topic string The topic
            partition int The partition
            log_start_offset bigint The first offset that can still be read
            log_end_offset bigint The offset behind the last record that can be read (Kafka's high watermark)
            last_stable_offset bigint End for a read_committed consumer: a transaction is open from there on
            sampled_at timestamp Time of the request to the brokers, by the clock of the machine that sent it
            """
        ),
    ],
    # Not sorted by topic, for the same reason as samples of groups (sorted_by).
    key=(CLUSTER_ID.name, "topic", "partition", SAMPLED_AT),
)


def position_rows(cluster_id: str, positions: Iterable[Position], sampled_at_ms: int) -> pa.Table:
    of_all = {"cluster_id": cluster_id, "sampled_at": sampled_at_ms * 1_000}
    return pa.Table.from_pylist(
        [position._asdict() | of_all for position in positions],
        schema=TOPIC_POSITIONS.no_rows().schema,
    )


SHARE_GROUP_OFFSETS = table_of(
    "share_group_offsets",
    "A row for each sample of a partition that a share group reads: its start offset and lag, as the brokers report them",
    [
        CLUSTER_ID,
        GROUP_ID,
        *described(
            """
            topic string The topic
            partition int The partition
            start_offset? bigint The first offset that the group has not finished; later records may be finished, or in delivery. Null: the group has finished no record of the partition, and has no start offset yet
            leader_epoch? int The leader epoch of the partition, as the group's state has it; null: not known
            lag? bigint Offsets left to finish, by the broker: from the start offset to the end of the log, without finished records in between, with those in delivery. Null: the broker does not report it (before Kafka 4.2), or does not know it
            sampled_at timestamp Time of the sample, that of its rows in topic_positions
            """
        ),
    ],
    key=(*OFFSET_KEY, SAMPLED_AT),
)


def share_offset_rows(
    cluster_id: str, offsets: Iterable[ShareOffset], sampled_at_ms: int
) -> pa.Table:
    of_all = {"cluster_id": cluster_id, "sampled_at": sampled_at_ms * 1_000}
    return pa.Table.from_pylist(
        [offset._asdict() | of_all for offset in offsets],
        schema=SHARE_GROUP_OFFSETS.no_rows().schema,
    )
