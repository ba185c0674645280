"""What one request or timer changes in a consumer group: the log, and what is beside the log. The group itself is left alone."""

from __future__ import annotations

from collections.abc import Sequence

from group_coordinator.core.model.changes import (
    Change,
    Decision,
    MembershipReplaced,
    TimerCancelled,
    TimerSet,
)
from group_coordinator.core.model.classic_group import ClassicGroup
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.records import Reason, Record
from group_coordinator.core.model.responses import Reply
from group_coordinator.core.model.timers import CLASSIC_MEMBER_KINDS, TimerKey, TimerKind

_MEMBER_KINDS = (TimerKind.SESSION, TimerKind.REBALANCE, *CLASSIC_MEMBER_KINDS)


class ConsumerUpdate:
    """Collects the outcome of one request or timer. `membership` is the group as it was before.

    For a group that did not exist, or was a classic one, `membership` is what the records so far will make it.
    """

    def __init__(
        self,
        group: Group,
        membership: ConsumerGroup,
        now_ms: int,
        config: CoordinatorConfig,
        reason: Reason,
    ) -> None:
        self.group = group
        self.membership = membership
        self.now_ms = now_ms
        self.config = config
        self.reason = reason
        self.records: list[Record] = []
        self.changes: list[Change] = []
        self.classic: ClassicGroup | None = None
        """Set: the records make the group this classic one."""
        self.subscription_order: dict[str, Sequence[str]] = {}
        """By member id: the topics that a member has just subscribed to, in its own order; the log has them sorted."""

    @property
    def is_upgrade(self) -> bool:
        """Whether the records make the group a consumer group, which it is not yet; it may also be a new one."""
        return self.group.consumer is None

    def decision(self, replies: Sequence[Reply]) -> Decision:
        """The update as a decision; all timers of a consumer group end when it turns classic."""
        if self.classic is not None:
            return Decision(self.records, list(replies), (MembershipReplaced(self.classic),))
        return Decision(self.records, list(replies), tuple(self.changes))

    def arm(self, key: TimerKey, delay_ms: int) -> None:
        """Set a timer, or set it anew behind all others."""
        self.changes.append(TimerSet(key, self.now_ms + delay_ms))

    def cancel(self, key: TimerKey) -> None:
        """Forget a timer; no error if it is not set."""
        self.changes.append(TimerCancelled(key))

    def cancel_timers_of(self, member_id: str) -> None:
        """Forget all timers of a member."""
        self.changes += [TimerCancelled(TimerKey(kind, member_id)) for kind in _MEMBER_KINDS]
