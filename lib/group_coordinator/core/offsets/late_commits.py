"""Commits that come after the end of their transaction: a group remembers each producer's last marker for a while.

A broker refuses them after a look at its log and a question to the transaction coordinator. Here they are known by where the markers'
log ended when they came. What is forgotten too soon is no loss: such a commit waits until whoever follows the markers has found its
own again.
"""

from __future__ import annotations

from group_coordinator.core.model.errors import CoordinatorError, ErrorCode
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.offset import LastMarker
from group_coordinator.core.model.requests import TxnOffsetCommit

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
