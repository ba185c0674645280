"""Pending offsets in a group state: those that any marker ends, and those that depend on the offsets of markers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from msgspec import Struct

from group_coordinator.core.model.group import Group
from group_coordinator.core.model.offset import CommittedOffset, LastMarker, PendingOffset

Waiting: TypeAlias = tuple[str, int, dict[int, tuple[CommittedOffset, int | None]]]
"""Topic, partition, and by producer id an offset that any marker of its producer ends, with its order."""


class PlacedTransactions(Struct, array_like=True, gc=False):
    """The data that depends on offsets of markers: pending offsets, and the last markers."""

    pending: list[tuple[str, int, int, PendingOffset]]
    """Pending offsets with topic, partition and producer id."""
    last_markers: dict[int, LastMarker]


def packed(group: Group) -> list[Waiting]:
    """Return the offsets that any marker ends."""
    found = []
    for (topic, partition), producers in sorted(group.pending.items()):
        waiting = {
            producer_id: (each.offset, each.order)
            for producer_id, of_producer in sorted(producers.items())
            for each in of_producer
            if each.markers_end_offset is None
        }
        if waiting:
            found.append((topic, partition, waiting))
    return found


def packed_by_place(group: Group) -> PlacedTransactions | None:
    """Return the data that depends on offsets of markers; None if there is none."""
    # Most groups have no transactions, and then need no bytes for them.
    if not group.pending and not group.last_markers:
        return None
    pending = [
        (topic, partition, producer_id, each)
        for (topic, partition), producers in sorted(group.pending.items())
        for producer_id, of_producer in sorted(producers.items())
        for each in of_producer
        if each.markers_end_offset is not None
    ]
    if not pending and not group.last_markers:
        return None
    return PlacedTransactions(pending, group.last_markers)


def unpacked(
    waiting: Iterable[Waiting], placed: PlacedTransactions | None
) -> dict[tuple[str, int], dict[int, tuple[PendingOffset, ...]]]:
    """Return both parts as Group.pending."""
    pending: dict[tuple[str, int], dict[int, tuple[PendingOffset, ...]]] = {
        (topic, partition): {
            producer_id: (PendingOffset(offset, order),)
            for producer_id, (offset, order) in producers.items()
        }
        for topic, partition, producers in waiting
    }
    for topic, partition, producer_id, each in () if placed is None else placed.pending:
        producers = pending.setdefault((topic, partition), {})
        # Both parts may have offsets of the same producer and partition.
        producers[producer_id] = (*producers.get(producer_id, ()), each)
    return pending
