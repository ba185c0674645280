"""Offsets of open transactions: they wait for their producer's marker (OffsetMetadataManager in Kafka 4.4).

Told in: stories/offsets/transactions.py.
"""

from __future__ import annotations

from group_coordinator.core.model.group import Group
from group_coordinator.core.model.offset import CommittedOffset, PendingOffset
from group_coordinator.core.model.records import OffsetRecord, TransactionMarker


def add(group: Group, record: OffsetRecord, offset: CommittedOffset, producer_id: int) -> None:
    """Let an offset wait; a producer has one for each partition, the latest."""
    producers = group.pending.setdefault((record.topic, record.partition), {})
    order = 1 + max((waiting.order or 0 for waiting in producers.values()), default=0)
    producers[producer_id] = PendingOffset(offset, order)


def supersede(group: Group, record: OffsetRecord) -> None:
    """An offset was committed outside transactions: what waits was written before it, and will not replace it."""
    producers = group.pending.get((record.topic, record.partition), {})
    for producer_id, waiting in producers.items():
        producers[producer_id] = waiting.replace(order=None)


def waiting_for(group: Group, producer_id: int) -> tuple[tuple[str, int, CommittedOffset], ...]:
    """What the end of the producer's transaction commits; not what a later record has replaced already."""
    return tuple(
        (topic, partition, producers[producer_id].offset)
        for (topic, partition), producers in sorted(group.pending.items())
        if producer_id in producers and producers[producer_id].order is not None
    )


def end_transaction(group: Group, marker: TransactionMarker) -> None:
    """Nothing waits for the producer any more, and its offsets replace what was written before them."""
    committed = {(topic, partition) for topic, partition, _ in marker.offsets}
    for key, producers in list(group.pending.items()):
        ended = producers.pop(marker.producer_id, None)
        if not producers:
            del group.pending[key]
        if ended is not None and key in committed:
            _supersede_before(producers, ended.order or 0)
    for topic, partition, offset in marker.offsets:
        group.store_offset(topic, partition, offset)


def _supersede_before(producers: dict[int, PendingOffset], order: int) -> None:
    for producer_id, waiting in producers.items():
        if waiting.order is not None and waiting.order < order:
            producers[producer_id] = waiting.replace(order=None)
