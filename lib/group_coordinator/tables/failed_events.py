"""Tables of failed events: dead_letters has invalid events and undecodable messages of a mirror, denials has authorization failures."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import BinaryType

from group_coordinator.runtime.outputs import DeadLetterRow, DenialRow
from group_coordinator.tables.definition import (
    BATCH_ID,
    CLUSTER_ID,
    GROUP_ID,
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

DEAD_LETTER_LINE = line_schema(DeadLetterRow)
"""The JSON of one dead letter as the stateful function writes it."""


def dead_letter_row(row: Column, *, cluster_id: Column, source_topic: Column) -> Column:
    """Return a struct with the table's columns, except those of the batch, from a parsed DEAD_LETTER_LINE."""
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


DENIALS = table_of(
    "denials",
    "A row for each authorization failure; an event may have several",
    [
        GROUP_ID,
        required("api", "string", "Kafka's name of the API"),
        required("principal", "string", "The sender, as the event names it"),
        required(
            "client_host", "string", "The sender's address, as the event names it; may be empty"
        ),
        required("operation", "string", "The operation that the ACLs do not allow"),
        required("resource_type", "string", "The type of the resource: GROUP, TOPIC, ..."),
        required("resource_name", "string", "The name of the resource"),
        required("event_time", "timestamp", "Event time of the denial"),
        required("source_topic", "string", "Topic of the event"),
        required("source_partition", "int", "Partition of the event"),
        required("source_offset", "bigint", "Offset of the event"),
        *(INGESTED_AT, CLUSTER_ID, BATCH_ID),
    ],
)

DENIAL_LINE = line_schema(DenialRow)
"""The JSON of one denial as the stateful function writes it."""


def denial_row(row: Column, *, cluster_id: Column, source_topic: Column) -> Column:
    """Return a struct with the table's columns, except those of the batch, from a parsed DENIAL_LINE."""
    as_they_are = [
        *("group_id", "api", "principal", "client_host", "operation", "resource_type"),
        *("resource_name", "source_partition", "source_offset"),
    ]
    return F.struct(
        *(row[name].alias(name) for name in as_they_are),
        instant(row["event_time_ms"]).alias("event_time"),
        source_topic.alias("source_topic"),
        cluster_id.alias("cluster_id"),
    )
