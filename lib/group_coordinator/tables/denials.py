"""The table denials: authorization failures of senders of events."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from group_coordinator.runtime.outputs import DenialRow
from group_coordinator.tables.definition import (
    BATCH_ID,
    CLUSTER_ID,
    GROUP_ID,
    INGESTED_AT,
    required,
    table_of,
)
from group_coordinator.tables.log_rows import instant, line_schema

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

LINE = line_schema(DenialRow)
"""The JSON of one denial as the stateful function writes it."""


def denial_row(row: Column, *, cluster_id: Column, source_topic: Column) -> Column:
    """Return a struct with the table's columns, except those of the batch, from a parsed LINE."""
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
