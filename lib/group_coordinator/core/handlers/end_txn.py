"""EndTxn (ours): the marker that ends a producer's transaction, as a transaction coordinator writes it into the log.

Source: OffsetMetadataManager.replayEndTransactionMarker in Kafka 4.4. A producer without pending offsets here is not
an error.

Told in: stories/offsets/transactions.py.
"""

from __future__ import annotations

from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.decision import Decision
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.records import Reason, Record, TransactionMarker
from group_coordinator.core.model.requests import EndTxn, RequestContext
from group_coordinator.core.model.responses import EndTxnResponse, Reply
from group_coordinator.core.offsets.pending import waiting_for


def decide(
    group: Group,
    request: EndTxn,
    context: RequestContext,
    config: CoordinatorConfig,  # noqa: ARG001 - one signature for all handlers
) -> Decision:
    """The marker, even if the group has nothing pending for the producer: Kafka writes it as well."""
    records: list[Record] = [_marker(group, request)]
    return Decision(records, [Reply(context.ticket, EndTxnResponse(ErrorCode.NONE))])


def _marker(group: Group, request: EndTxn) -> TransactionMarker:
    if not request.is_commit:
        return TransactionMarker(request.producer_id, (), Reason.TRANSACTION_ABORTED)
    offsets = waiting_for(group, request.producer_id)
    return TransactionMarker(request.producer_id, offsets, Reason.TRANSACTION_COMMITTED)
