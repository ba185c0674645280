"""The table dead_letters: invalid events, and undecodable messages of a mirror, with coordinates, reason and bytes."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import BinaryType

from group_coordinator.runtime.outputs import DeadLetterRow
from group_coordinator.tables.definition import (
    BATCH_ID,
    CLUSTER_ID,
    INGESTED_AT,
    optional,
    required,
    table_of,
)
from group_coordinator.tables.log_rows import instant, line_schema

DEAD_LETTERS = table_of(
    "dead_letters",
    "A row for each invalid event, and each message of a mirrored topic that could not be decoded; it changed no group",
    [
        required("source_topic", "string", "Topic of the event"),
        optional("source_partition", "int", "Partition of the event; null: a deadline failed"),
        optional("source_offset", "bigint", "Offset of the event; null: a deadline failed"),
        required("reason", "string", "The fault"),
        optional("value", "binary", "The event's bytes; null: it had none"),
        required("event_time", "timestamp", "The event's own timestamp"),
        *(INGESTED_AT, CLUSTER_ID),
        optional(
            "group_id",
            "string",
            "The event's key; bytes that are not UTF-8 are replaced; null: a mirrored message",
        ),
        BATCH_ID,
        optional(
            "key", "binary", "The bytes of a mirrored message's key; null: no key, or an event"
        ),
    ],
    properties={"delta.dataSkippingNumIndexedCols": "0"},
)

LINE = line_schema(DeadLetterRow)
"""The JSON of one dead letter as the stateful function writes it."""


def dead_letter_row(row: Column, *, cluster_id: Column, source_topic: Column) -> Column:
    """Return a struct with the table's columns, except those of the batch, from a parsed LINE."""
    columns = [
        source_topic.alias("source_topic"),
        *(row[name].alias(name) for name in ("source_partition", "source_offset", "reason")),
        F.unbase64(row["value"]).alias("value"),
        instant(row["event_time_ms"]).alias("event_time"),
        cluster_id.alias("cluster_id"),
        row["group_id"].alias("group_id"),
        F.lit(None).cast(BinaryType()).alias("key"),
    ]
    return F.struct(columns)
