"""Groups that change from the classic protocol to the consumer protocol, and back (KIP-848)."""

from __future__ import annotations

from group_coordinator.core.config import CoordinatorConfig
from group_coordinator.core.consumer_group import ConsumerGroup
from group_coordinator.core.errors import CoordinatorError, ErrorCode
from group_coordinator.core.group import ClassicGroup, Group
from group_coordinator.core.records import GroupRecord, Reason, Record
from group_coordinator.core.responses import Reply
from group_coordinator.core.soft_state import SoftChange
from group_coordinator.core.states import ClassicState
from group_coordinator.core.value import Value


class Upgrade(Value, frozen=True):
    """A classic group as a consumer group: the records that make it one, and what it becomes by them."""

    membership: ConsumerGroup
    records: list[Record]
    replies: list[Reply]
    soft: list[SoftChange]


def upgrade(
    group: Group,
    classic: ClassicGroup,
    now_ms: int,  # noqa: ARG001
    config: CoordinatorConfig,  # noqa: ARG001
) -> Upgrade:
    """What makes a classic group a consumer group when a member of the new protocol joins.

    Raises:
        CoordinatorError: GROUP_ID_NOT_FOUND, the group must stay a classic one.
    """
    if classic.state is ClassicState.EMPTY:
        return Upgrade(ConsumerGroup(), [GroupRecord(None, Reason.JOIN)], [], [])
    raise CoordinatorError(
        ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group.group_id} is not a consumer group."
    )
