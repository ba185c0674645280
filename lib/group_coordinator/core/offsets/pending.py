"""Pending offsets: offsets of open transactions, which wait for their producer's marker (OffsetMetadataManager in Kafka 4.4).

The events of commits and markers may arrive in any order. A commit has the end of the markers' log at the time of its request
(`markers_end_offset`), and a marker has its own offset in that log. A marker ends the pending offsets of its own transaction: those
with an end not after the marker, and not before the offset from which on the marker is the producer's first
(.github/decisions/023-transaction-markers.md).

The group also remembers the last marker of each producer, in order to reject commits of transactions that have ended, as a broker
does by its log. A marker that is forgotten too early does no harm: a late commit waits until its reader finds it again.
Stories: stories/offsets/transactions.py.
"""

from __future__ import annotations

from collections.abc import Iterable

from group_coordinator.core.model.errors import CoordinatorError, ErrorCode
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.records import OffsetRecord, TransactionMarker
from group_coordinator.core.model.requests import EndTxn, TxnOffsetCommit
from group_coordinator.core.model.topic_offsets import CommittedOffset, LastMarker, PendingOffset

REMEMBERED_MS = 300_000
"""No event is delayed for longer: Kafka's producers give up after two minutes (delivery.timeout.ms)."""
REMEMBERED_PRODUCERS = 1_000
"""The limit of producers whose markers a group remembers, the latest. Each marker has 30 bytes of the group state."""


def check_in_time(group: Group, request: TxnOffsetCommit, now_ms: int) -> None:
    """Reject a commit whose transaction has ended, or whose sender was fenced when it ended.

    Raises CoordinatorError: INVALID_TXN_STATE, INVALID_PRODUCER_EPOCH.
    """
    producer_id, since = request.producer_id, request.markers_end_offset
    last = None if producer_id is None else group.last_markers.get(producer_id)
    # Without the end of the markers' log a late commit cannot be recognized.
    if last is None or since is None or _is_old(last, now_ms):
        return
    if since <= last.marker_offset:
        raise CoordinatorError(ErrorCode.INVALID_TXN_STATE)
    epoch, newest = request.producer_epoch, last.producer_epoch
    if epoch is not None and newest is not None and epoch < newest:
        raise CoordinatorError(ErrorCode.INVALID_PRODUCER_EPOCH)


def remember(group: Group, producer_id: int, marker: LastMarker) -> None:
    """Store the producer's marker behind all others, and remove markers that are too old or too many."""
    known = group.last_markers.pop(producer_id, marker)
    # A marker may be repeated by a reader that starts again, and may then be an earlier one.
    group.last_markers[producer_id] = max(known, marker, key=lambda each: each.marker_offset)
    kept = [
        (each, last) for each, last in group.last_markers.items() if not _is_old(last, marker.at_ms)
    ]
    group.last_markers = dict(kept[-REMEMBERED_PRODUCERS:])


def _is_old(last: LastMarker, now_ms: int) -> bool:
    return now_ms - last.at_ms > REMEMBERED_MS


def add(group: Group, record: OffsetRecord, offset: CommittedOffset, producer_id: int) -> None:
    """Add a pending offset. A producer has one for each partition and transaction, the latest."""
    producers = group.pending.setdefault((record.topic, record.partition), {})
    order = 1 + max((_last_order(waiting) for waiting in producers.values()), default=0)
    new = PendingOffset(offset, order, record.markers_end_offset, record.producer_epoch)
    others = [
        waiting
        for waiting in producers.get(producer_id, ())
        if waiting.markers_end_offset != new.markers_end_offset
        # Commits of one transaction have the same end of the markers' log.
    ]
    producers[producer_id] = tuple(sorted([*others, new], key=_place))


def supersede(group: Group, record: OffsetRecord) -> None:
    """Mark pending offsets as replaced, because a later offset was committed outside transactions."""
    producers = group.pending.get((record.topic, record.partition), {})
    for producer_id, waiting in producers.items():
        producers[producer_id] = tuple([each.replace(order=None) for each in waiting])


def ends_any(group: Group, request: EndTxn) -> bool:
    """Return True if the marker ends pending offsets, even those that a later record has replaced."""
    return any(
        _is_ended(waiting, request)
        for producers in group.pending.values()
        for waiting in producers.get(request.producer_id, ())
    )


def waiting_for(group: Group, marker: EndTxn) -> tuple[tuple[str, int, CommittedOffset], ...]:
    """Return the offsets that the marker commits, without those that a later record has replaced."""
    found = []
    for (topic, partition), producers in sorted(group.pending.items()):
        # The last by place is the latest, in any order of events.
        ended = [
            waiting.offset
            for waiting in producers.get(marker.producer_id, ())
            if waiting.order is not None
            and _is_ended(waiting, marker)
            and not _is_fenced(waiting, marker)
        ]
        if ended:
            found.append((topic, partition, ended[-1]))
    return tuple(found)


def end_transaction(group: Group, marker: TransactionMarker) -> None:
    """Remove the pending offsets that the marker ends, and store its committed offsets.

    Pending offsets of the producer's next transaction stay, as its events may have arrived first.
    """
    committed = {(topic, partition) for topic, partition, _ in marker.offsets}
    # A list, as entries are removed in the loop.
    for key, producers in list(group.pending.items()):
        waiting = producers.pop(marker.producer_id, ())
        ended = [each for each in waiting if _is_ended(each, marker)]
        left = [each for each in waiting if not _is_ended(each, marker)]
        if ended and key in committed:
            _supersede_before(producers, _last_order(ended))
            left = [_superseded_if(each, _place(each) < _place(ended[-1])) for each in left]
        if left:
            producers[marker.producer_id] = tuple(left)
        elif not producers:
            del group.pending[key]
    for topic, partition, offset in marker.offsets:
        group.store_offset(topic, partition, offset)


def awaited_markers(group: Group) -> dict[int, int]:
    """Return the awaited markers: the first possible offset of each, by producer id."""
    awaited: dict[int, int] = {}
    for producers in group.pending.values():
        for producer_id, waiting in producers.items():
            for each in waiting:
                since = each.markers_end_offset
                if since is not None:
                    awaited[producer_id] = min(since, awaited.get(producer_id, since))
    return dict(sorted(awaited.items()))


def _place(waiting: PendingOffset) -> int:
    return -1 if waiting.markers_end_offset is None else waiting.markers_end_offset


def _is_ended(waiting: PendingOffset, marker: EndTxn | TransactionMarker) -> bool:
    place = waiting.markers_end_offset
    if place is None or marker.marker_offset is None:
        return True
    return (marker.since_offset or 0) <= place <= marker.marker_offset


def _is_fenced(waiting: PendingOffset, marker: EndTxn) -> bool:
    # A producer commits with its own epoch: offsets with another are of a fenced predecessor.
    epochs = {waiting.producer_epoch, marker.producer_epoch}
    return marker.marker_offset is not None and None not in epochs and len(epochs) > 1


def _last_order(waiting: Iterable[PendingOffset]) -> int:
    return max((each.order or 0 for each in waiting), default=0)


def _supersede_before(producers: dict[int, tuple[PendingOffset, ...]], order: int) -> None:
    for producer_id, waiting in producers.items():
        producers[producer_id] = tuple(
            [_superseded_if(each, (each.order or 0) < order) for each in waiting]
        )


def _superseded_if(waiting: PendingOffset, is_so: bool) -> PendingOffset:  # noqa: FBT001
    return waiting.replace(order=None) if is_so else waiting
