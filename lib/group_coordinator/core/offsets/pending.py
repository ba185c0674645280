"""Offsets of open transactions: they wait for their producer's marker (OffsetMetadataManager in Kafka 4.4), and commits behind a marker are known.

A broker refuses them after a look at its log and a question to the transaction coordinator. Here they are known by where the markers'
log ended when they came. What is forgotten too soon is no loss: such a commit waits until whoever follows the markers has found its
own again.

A marker that says where it is in the brokers' log ends the offsets whose commits came when that log was no longer than
that, and not shorter than at the place from which on it is the producer's first one: those of its own transaction. A producer's next
transaction begins once all markers of the one before are written, so its commits come later, in whatever order the events
get here (.github/decisions/023-transaction-markers.md).

Told in: stories/offsets/transactions.py.
"""

from __future__ import annotations

from collections.abc import Iterable

from group_coordinator.core.model.errors import CoordinatorError, ErrorCode
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.offset import CommittedOffset, LastMarker, PendingOffset
from group_coordinator.core.model.records import OffsetRecord, TransactionMarker
from group_coordinator.core.model.requests import EndTxn, TxnOffsetCommit

REMEMBERED_MS = 300_000
"""Nobody keeps back an event for longer: Kafka's producers give up after two minutes (delivery.timeout.ms)."""
REMEMBERED_PRODUCERS = 1_000
"""The most whose markers a group remembers, the last ones: each is 30 bytes of the group's state."""


def check_in_time(group: Group, request: TxnOffsetCommit, now_ms: int) -> None:
    """Refuse a commit whose transaction has ended, or whose sender was fenced when it ended.

    Raises:
        CoordinatorError: INVALID_TXN_STATE, INVALID_PRODUCER_EPOCH.
    """
    producer_id, since = request.producer_id, request.markers_end_offset
    last = None if producer_id is None else group.last_markers.get(producer_id)
    if last is None or since is None or _is_old(last, now_ms):
        return
    if since <= last.marker_offset:
        raise CoordinatorError(ErrorCode.INVALID_TXN_STATE)
    epoch, newest = request.producer_epoch, last.producer_epoch
    if epoch is not None and newest is not None and epoch < newest:
        raise CoordinatorError(ErrorCode.INVALID_PRODUCER_EPOCH)


def remember(group: Group, producer_id: int, marker: LastMarker) -> None:
    """Put the producer's marker behind all others, and forget those that are old or too many."""
    known = group.last_markers.pop(producer_id, marker)
    # One that is told again, by somebody who begins anew, may be an earlier one.
    group.last_markers[producer_id] = max(known, marker, key=lambda each: each.marker_offset)
    kept = [
        (each, last) for each, last in group.last_markers.items() if not _is_old(last, marker.at_ms)
    ]
    group.last_markers = dict(kept[-REMEMBERED_PRODUCERS:])


def _is_old(last: LastMarker, now_ms: int) -> bool:
    return now_ms - last.at_ms > REMEMBERED_MS


def add(group: Group, record: OffsetRecord, offset: CommittedOffset, producer_id: int) -> None:
    """Let an offset wait; a producer has one for each partition, the latest, as far as they are of one transaction."""
    producers = group.pending.setdefault((record.topic, record.partition), {})
    order = 1 + max((_last_order(waiting) for waiting in producers.values()), default=0)
    new = PendingOffset(offset, order, record.markers_end_offset, record.producer_epoch)
    others = [
        waiting
        for waiting in producers.get(producer_id, ())
        if waiting.markers_end_offset != new.markers_end_offset
    ]
    producers[producer_id] = tuple(sorted([*others, new], key=_place))


def supersede(group: Group, record: OffsetRecord) -> None:
    """An offset was committed outside transactions: what waits was written before it, and will not replace it."""
    producers = group.pending.get((record.topic, record.partition), {})
    for producer_id, waiting in producers.items():
        producers[producer_id] = tuple([each.replace(order=None) for each in waiting])


def ends_any(group: Group, request: EndTxn) -> bool:
    """Whether anything waits for this marker, even what a later record has replaced already."""
    return any(
        _is_ended(waiting, request)
        for producers in group.pending.values()
        for waiting in producers.get(request.producer_id, ())
    )


def waiting_for(group: Group, marker: EndTxn) -> tuple[tuple[str, int, CommittedOffset], ...]:
    """What the end of the producer's transaction commits; not what a later record has replaced already."""
    found = []
    for (topic, partition), producers in sorted(group.pending.items()):
        # They are in the order of their places: the last one came last, whenever its event did.
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
    """What the marker ends waits no more, and its offsets replace what was written before them.

    Not what the same producer wrote in a later transaction, whose events may have come first.
    """
    committed = {(topic, partition) for topic, partition, _ in marker.offsets}
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
    """The producers whose markers must be found, each with the first offset at which one may be, by producer id."""
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
    """A producer commits its transaction at its own epoch: what has another one is of a predecessor."""
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
