"""What is in the messages of __consumer_offsets, as data: which record type has which fields, in which version."""

from __future__ import annotations

from group_coordinator.codecs.offsets_topic.schemas import (
    classic,
    consumer,
    offsets,
    share,
    streams,
)
from group_coordinator.codecs.offsets_topic.schemas.record import Record

RECORDS: dict[int, Record] = {
    record.type: record
    for record in (
        *offsets.RECORDS,
        *classic.RECORDS,
        *consumer.RECORDS,
        *share.RECORDS,
        *streams.RECORDS,
    )
}
"""By record type: all that Kafka 4.4.0 knows. Kafka uses neither 9 nor 18."""
