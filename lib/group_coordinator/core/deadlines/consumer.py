"""What happens in a consumer group when a timer runs out.

Told in: stories/consumer/consumer_timers.py, stories/consumer/assignment_interval.py.
"""

from __future__ import annotations

from group_coordinator.core.acls.rights import Rights
from group_coordinator.core.consumer.regexes import resolve
from group_coordinator.core.consumer.update import ConsumerUpdate
from group_coordinator.core.migration.downgrade import remove_or_downgrade
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.decision import Decision
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.records import Reason
from group_coordinator.core.model.timers import TimerKey, TimerKind


def fire_timer(
    group: Group,
    membership: ConsumerGroup,
    key: TimerKey,
    now_ms: int,
    config: CoordinatorConfig,
    rights: Rights | None,
) -> Decision:
    """Decide what an elapsed timer brings; it is gone afterwards."""
    update = ConsumerUpdate(group, membership, now_ms, config, _reason(key.kind))
    update.cancel(key)
    if key.kind is TimerKind.REGEX:
        resolve(update, rights)
    elif key.member_id in membership.members and not _is_outdated(membership, key):
        remove_or_downgrade(update, [key.member_id])
    return update.decision([])


def _reason(kind: TimerKind) -> Reason:
    if kind is TimerKind.REGEX:
        return Reason.TOPICS_RESOLVED
    return Reason.SESSION_TIMEOUT if kind is TimerKind.SESSION else Reason.REBALANCE_TIMEOUT


def _is_outdated(membership: ConsumerGroup, key: TimerKey) -> bool:
    """A member at another epoch has given its partitions back."""
    epoch = membership.members[key.member_id].epoch
    is_rebalance = key.kind is TimerKind.REBALANCE
    return is_rebalance and membership.rebalance_epochs.get(key.member_id) != epoch
