"""The log: every record of the coordinator, with the reason and the event behind it. Append only.

Of a mirrored topic it has every message, including undecodable messages (codecs/records/record_types.py).
"""

from __future__ import annotations

from pyspark.sql.types import (
    BooleanType,
    IntegerType,
    LongType,
    StringType,
    StructType,
    TimestampType,
)

from group_coordinator.tables.definition import (
    BATCH_ID,
    CLUSTER_ID,
    INGESTED_AT,
    TableDefinition,
    optional,
    required,
)

COORDINATOR_LOG = TableDefinition(
    "coordinator_log",
    "A row for each record, kept forever; the order of a group's records is (batch_id, seq)",
    StructType(
        [
            CLUSTER_ID,
            required(
                "group_id",
                StringType(),
                "The group the record belongs to; empty: a mirrored message whose key could not be decoded",
            ),
            required(
                "record_type",
                IntegerType(),
                "Kafka's record type: 0 and 1 an offset, 2 to 23 the group and its members; negative: ours; -3: a mirrored message "
                "that could not be decoded",
            ),
            required("key", StringType(), "JSON: Kafka's key fields; of type -3 the bytes"),
            optional(
                "value",
                StringType(),
                "JSON: version and Kafka's value fields, of type -3 the bytes; null: a tombstone",
            ),
            optional("topic", StringType(), "Topic of an offset; null: not an offset"),
            optional("partition", IntegerType(), "Partition of an offset; null: not an offset"),
            optional(
                "member_id",
                StringType(),
                "The member that the record is about; null: not about a single member",
            ),
            optional(
                "offset", LongType(), "The committed offset; null: not an offset, or a tombstone"
            ),
            required("reason", StringType(), "The reason of the record"),
            optional(
                "principal",
                StringType(),
                "The sender, as the event names it; null: not named, or a deadline",
            ),
            required("event_time", TimestampType(), "Event time, by the group's clock"),
            optional(
                "source_topic",
                StringType(),
                "Topic of the event, or of the mirrored message; null: a deadline, or a message that the mirrored topic does not have any more",
            ),
            optional("source_partition", IntegerType(), "Partition of that event"),
            optional("source_offset", LongType(), "Offset of that event"),
            BATCH_ID,
            required("seq", IntegerType(), "Position among the group's records of the batch"),
            INGESTED_AT,
            optional(
                "inferred",
                BooleanType(),
                "True: the mirror concluded the reason, or with the reason mirrored the removal itself, in a gap; false: a mirrored record whose reason is not known; null: not mirrored",
            ),
            optional(
                "source_topic_id",
                StringType(),
                "Id of the topic of a mirrored message; a topic that is created again under its name has another id",
            ),
        ]
    ),
    properties={"delta.dataSkippingStatsColumns": "group_id,event_time,batch_id"},
)
