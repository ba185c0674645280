"""The log: every record of the coordinator, with the reason and the event behind it. Append only.

Of a mirrored topic it has every message, including undecodable messages (codecs/records/record_types.py).
"""

from __future__ import annotations

from group_coordinator.tables.definition import (
    BATCH_ID,
    CLUSTER_ID,
    INGESTED_AT,
    described,
    required,
    table_of,
)

COORDINATOR_LOG = table_of(
    "coordinator_log",
    "A row for each record, kept forever; the order of a group's records is (batch_id, seq)",
    [
        CLUSTER_ID,
        required(
            "group_id",
            "string",
            "The group the record belongs to; empty: a mirrored message whose key could not be decoded",
        ),
        required(
            "record_type",
            "int",
            "Kafka's record type: 0 and 1 an offset, 2 to 23 the group and its members; negative: ours; -3: a mirrored message "
            "that could not be decoded",
        ),
        *described(
            """
            key string JSON: Kafka's key fields; of type -3 the bytes
            value? string JSON: version and Kafka's value fields, of type -3 the bytes; null: a tombstone
            topic? string Topic of an offset; null: not an offset
            partition? int Partition of an offset; null: not an offset
            member_id? string The member that the record is about; null: not about a single member
            offset? bigint The committed offset; null: not an offset, or a tombstone
            reason string The reason of the record
            principal? string The sender, as the event names it; null: not named, or a deadline
            event_time timestamp Event time, by the group's clock
            source_topic? string Topic of the event, or of the mirrored message; null: a deadline, or a message that the mirrored topic does not have any more
            source_partition? int Partition of that event
            source_offset? bigint Offset of that event
            """
        ),
        BATCH_ID,
        required("seq", "int", "Position among the group's records of the batch"),
        INGESTED_AT,
        *described(
            """
            inferred? boolean True: the mirror concluded the reason, or with the reason mirrored the removal itself, in a gap; false: a mirrored record whose reason is not known; null: not mirrored
            source_topic_id? string Id of the topic of a mirrored message; a topic that is created again under its name has another id
            """
        ),
    ],
    properties={"delta.dataSkippingStatsColumns": "group_id,event_time,batch_id"},
)
