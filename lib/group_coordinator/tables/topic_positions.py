"""The table topic_positions: start and end offsets of a cluster's partitions, sample by sample."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
from pyspark.sql.types import IntegerType, LongType, StringType, StructType, TimestampType

from group_coordinator.tables.definition import CLUSTER_ID, TableDefinition, required
from group_coordinator.tables.position import Position

TOPIC_POSITIONS = TableDefinition(
    "topic_positions",
    "A row for each sample of a partition: start and end of its readable log",
    StructType(
        [
            CLUSTER_ID,
            required("topic", StringType(), "The topic"),
            required("partition", IntegerType(), "The partition"),
            required("log_start_offset", LongType(), "The first offset that can still be read"),
            required(
                "log_end_offset",
                LongType(),
                "The offset behind the last record that can be read (Kafka's high watermark)",
            ),
            required(
                "last_stable_offset",
                LongType(),
                "End for a read_committed consumer: a transaction is open from there on",
            ),
            required(
                "sampled_at",
                TimestampType(),
                "Time of the request to the brokers, by the clock of the machine that sent it",
            ),
        ]
    ),
    # Files are separated by the time of writing: sorted by topic, each would have rows of all times, and the removal of
    # old rows would touch all of them.
    key=(CLUSTER_ID.name, "topic", "partition", "sampled_at"),
)


def position_rows(cluster_id: str, positions: Iterable[Position], sampled_at_ms: int) -> pa.Table:
    """Return the rows of a sample of a cluster, with the table's columns."""
    of_all = {"cluster_id": cluster_id, "sampled_at": sampled_at_ms * 1_000}
    return pa.Table.from_pylist(
        [position._asdict() | of_all for position in positions],
        schema=TOPIC_POSITIONS.no_rows().schema,
    )
