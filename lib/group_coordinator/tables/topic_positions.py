"""The table topic_positions: start and end offsets of a cluster's partitions, sample by sample."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from group_coordinator.tables.definition import (
    CLUSTER_ID,
    SAMPLED_AT,
    described,
    table_of,
)
from group_coordinator.tables.position import Position

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
