"""What happens in a consumer group when a timer runs out.

Told in: stories/consumer/consumer_timers.py, stories/consumer/assignment_interval.py.
"""

from __future__ import annotations

from group_coordinator.core.consumer.regexes import resolve
from group_coordinator.core.consumer.update import ConsumerUpdate
from group_coordinator.core.migration.downgrade import remove_or_downgrade
from group_coordinator.core.model.changes import CancelTimer
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.consumer_group import (
    REGEX_TIMER,
    ConsumerGroup,
    is_rebalance_timer,
    member_of_timer,
)
from group_coordinator.core.model.decision import Decision
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.records import Reason
from group_coordinator.core.model.timers import is_session_timer


def fire_timer(
    group: Group, membership: ConsumerGroup, key: str, now_ms: int, config: CoordinatorConfig
) -> Decision:
    """Decide what an elapsed timer brings; it is gone afterwards."""
    update = ConsumerUpdate(group, membership, now_ms, config, _reason(key))
    update.soft.append(CancelTimer(key))
    member_id = member_of_timer(key)
    if key == REGEX_TIMER:
        resolve(update)
    elif member_id in membership.members and not _is_outdated(membership, key, member_id):
        remove_or_downgrade(update, [member_id])
    return update.decision([])


def _reason(key: str) -> Reason:
    if key == REGEX_TIMER:
        return Reason.TOPICS_RESOLVED
    return Reason.SESSION_TIMEOUT if is_session_timer(key) else Reason.REBALANCE_TIMEOUT


def _is_outdated(membership: ConsumerGroup, key: str, member_id: str) -> bool:
    """A member at another epoch has given its partitions back."""
    epoch = membership.members[member_id].epoch
    return is_rebalance_timer(key) and membership.rebalance_epochs.get(member_id) != epoch
