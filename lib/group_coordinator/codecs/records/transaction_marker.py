"""The control record that ends a producer's transaction, with data that Kafka keeps in the batch's header and earlier in its log."""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType, json, structs

from group_coordinator.codecs.fields import or_default, unset_if_none
from group_coordinator.codecs.records import record_types
from group_coordinator.codecs.records.offset import OffsetData, committed_offset, offset_data
from group_coordinator.codecs.records.record_types import Key, LogEntry, RecordValue
from group_coordinator.core.model.records import Reason, TransactionMarker

# Kafka's types of control records.
ABORT, COMMIT = 0, 1


class MarkerKeyData(Struct, frozen=True, gc=False, kw_only=True):
    """Kafka's key of a control record, and the group."""

    group: str
    version: int = 0
    type: int


# Kafka's field, for readers of Kafka's JSON: nothing here depends on it.
class MarkerData(Struct, frozen=True, gc=False, rename="camel"):
    """Kafka's value of a control record."""

    coordinator_epoch: int = 0


class MarkedOffset(OffsetData, frozen=True, gc=False, rename="camel"):
    """An offset that the marker commits. Transactional offsets have no expire timestamp."""

    topic: str
    partition: int


class MarkerValue(RecordValue[MarkerData], frozen=True, gc=False, kw_only=True, rename="camel"):
    """Kafka's value with the producer id, the offsets, and the marker's offset in the brokers' log."""

    producer_id: int
    offsets: list[MarkedOffset]
    marker_offset: int | UnsetType | None = UNSET
    since_offset: int | UnsetType | None = UNSET
    producer_epoch: int | UnsetType | None = UNSET


_decode_key = json.Decoder(Key[MarkerKeyData]).decode
_decode_value = json.Decoder(MarkerValue).decode


def encode(group_id: str, record: TransactionMarker) -> LogEntry:
    kind = COMMIT if record.reason is Reason.TRANSACTION_COMMITTED else ABORT
    key = Key(record_types.TRANSACTION_MARKER, MarkerKeyData(group=group_id, type=kind))
    offsets = [
        MarkedOffset(topic, partition, **structs.asdict(offset_data(offset)))
        for topic, partition, offset in record.offsets
    ]
    value = MarkerValue(
        data=MarkerData(),
        producer_id=record.producer_id,
        offsets=offsets,
        marker_offset=unset_if_none(record.marker_offset),
        since_offset=unset_if_none(record.since_offset),
        producer_epoch=unset_if_none(record.producer_epoch),
    )
    return LogEntry(key, value)


def decode(key: str, value: str) -> TransactionMarker:
    """Return the record of a log entry. The type of the marker determines its reason."""
    found = _decode_value(value)
    offsets = tuple(
        (marked.topic, marked.partition, committed_offset(marked)) for marked in found.offsets
    )
    # Not from the row's reason, which a mirrored log does not have.
    committed, aborted = Reason.TRANSACTION_COMMITTED, Reason.TRANSACTION_ABORTED
    reason = committed if _decode_key(key).data.type == COMMIT else aborted
    return TransactionMarker(
        producer_id=found.producer_id,
        offsets=offsets,
        reason=reason,
        marker_offset=or_default(found.marker_offset, None),
        since_offset=or_default(found.since_offset, None),
        producer_epoch=or_default(found.producer_epoch, None),
    )
