"""How many members a consumer group may have.

Source: throwIfConsumerGroupIsFull in Kafka 4.4's GroupMetadataManager.

Told in: stories/consumer/consumer_size.py, stories/migration/classic_refusals.py.
"""

from __future__ import annotations

from group_coordinator.core.consumer.update import ConsumerUpdate
from group_coordinator.core.model.errors import CoordinatorError, ErrorCode


def check_room(update: ConsumerUpdate, member_id: str, instance_id: str | None) -> None:
    """Refuse one member too many; who takes the place of a static member needs no other.

    Raises:
        CoordinatorError: GROUP_MAX_SIZE_REACHED.
    """
    membership = update.membership
    size = update.config.group_consumer_max_size
    is_known = member_id in membership.members or (instance_id or "") in membership.static_members
    if len(membership.members) >= size and not is_known:
        raise CoordinatorError(
            ErrorCode.GROUP_MAX_SIZE_REACHED,
            f"The consumer group has reached its maximum capacity of {size} members.",
        )
