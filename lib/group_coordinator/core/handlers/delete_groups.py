"""DeleteGroups 0-3 (KIP-229) of a group. Only an Empty group can be deleted; its offsets are deleted too.

Source: GroupCoordinatorShard.deleteGroups in Kafka 4.4.
Stories: stories/offsets/deletions.py, stories/consumer/consumer_endings.py.
"""

from __future__ import annotations

from group_coordinator.core.model.changes import Decision
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.errors import CoordinatorError, ErrorCode
from group_coordinator.core.model.group import Group, is_empty
from group_coordinator.core.model.records import OffsetRecord, Reason, Record, group_tombstones
from group_coordinator.core.model.requests import DeleteGroup, RequestContext
from group_coordinator.core.model.responses import DeleteGroupResponse, Reply
from group_coordinator.core.offsets.expiration import offsets_in_order


def decide(
    group: Group,
    request: DeleteGroup,
    context: RequestContext,
    config: CoordinatorConfig,  # noqa: ARG001 - one signature for all handlers
) -> Decision:
    """Return tombstones for every offset, then for the group. Raises CoordinatorError: GROUP_ID_NOT_FOUND, NON_EMPTY_GROUP."""
    if group.membership is None:
        raise CoordinatorError(ErrorCode.GROUP_ID_NOT_FOUND)
    if not is_empty(group.membership):
        raise CoordinatorError(ErrorCode.NON_EMPTY_GROUP)
    # A partition may have only pending offsets: it needs a tombstone too.
    committed = {(topic, partition) for topic, partition, _ in offsets_in_order(group)}
    records: list[Record] = [
        OffsetRecord(topic, partition, None, Reason.GROUP_DELETED)
        for topic, partition in sorted(committed | group.pending.keys())
    ]
    records += group_tombstones(group.membership, Reason.GROUP_DELETED)
    response = DeleteGroupResponse(ErrorCode.NONE, request.group_id)
    return Decision(records, [Reply(context.ticket, response)])
