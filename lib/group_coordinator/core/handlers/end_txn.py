"""EndTxn (our own): the marker that ends a producer's transaction, as a transaction coordinator writes it to the log.

Source: OffsetMetadataManager.replayEndTransactionMarker in Kafka 4.4. A producer without pending offsets here is no error.
Stories: stories/offsets/transactions.py.
"""

from __future__ import annotations

from group_coordinator.core.model.changes import Change, Decision, MarkerRemembered
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.records import Reason, Record, TransactionMarker
from group_coordinator.core.model.requests import EndTxn, RequestContext
from group_coordinator.core.model.responses import EndTxnResponse, Reply
from group_coordinator.core.model.topic_offsets import LastMarker
from group_coordinator.core.offsets.pending import ends_any, waiting_for


def decide(
    group: Group,
    request: EndTxn,
    context: RequestContext,
    config: CoordinatorConfig,  # noqa: ARG001 - one signature for all handlers
) -> Decision:
    """Return the marker's record, even without pending offsets of the producer: Kafka writes it as well.

    A marker with an offset may be repeated. It leaves no record then.
    """
    # A repeated marker finds no offsets that it ends.
    is_new = request.marker_offset is None or ends_any(group, request)
    records: list[Record] = [_marker(group, request)] if is_new else []
    changes: tuple[Change, ...] = ()
    if request.marker_offset is not None and group.membership is not None:
        last = LastMarker(request.marker_offset, request.producer_epoch, context.now_ms)
        changes = (MarkerRemembered(request.producer_id, last),)
    return Decision(records, [Reply(context.ticket, EndTxnResponse(ErrorCode.NONE))], changes)


def _marker(group: Group, request: EndTxn) -> TransactionMarker:
    at = request.marker_offset
    place = at, request.since_offset, None if at is None else request.producer_epoch
    if not request.is_commit:
        return TransactionMarker(request.producer_id, (), Reason.TRANSACTION_ABORTED, *place)
    offsets = waiting_for(group, request)
    return TransactionMarker(request.producer_id, offsets, Reason.TRANSACTION_COMMITTED, *place)
