"""The changes of a consumer group by a request or timer: its records, and the changes without records."""

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
    """The collected outcome of a request or timer. `membership` is the group before it, and is not changed.

    If the group did not exist or was a classic group, `membership` is the result of the records so far.
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
        """Set if the records turn the group into this classic group."""
        self.subscription_order: dict[str, Sequence[str]] = {}
        """The topics of new subscriptions by member id, in the member's own order. The log has them sorted."""

    @property
    def is_upgrade(self) -> bool:
        """True: the group is not a consumer group yet, but a new or a classic group."""
        return self.group.consumer is None

    def decision(self, replies: Sequence[Reply]) -> Decision:
        """Return the decision. All timers of a consumer group end when it becomes a classic group."""
        if self.classic is not None:
            # The classic group has its own timers; changes of the consumer group would find no
            # group.
            return Decision(self.records, list(replies), (MembershipReplaced(self.classic),))
        return Decision(self.records, list(replies), tuple(self.changes))

    def arm(self, key: TimerKey, delay_ms: int) -> None:
        """Set a timer. A timer that is set again fires after all others of its millisecond."""
        self.changes.append(TimerSet(key, self.now_ms + delay_ms))

    def cancel(self, key: TimerKey) -> None:
        """Cancel a timer; no error if it is not set."""
        self.changes.append(TimerCancelled(key))

    def cancel_timers_of(self, member_id: str) -> None:
        self.changes += [TimerCancelled(TimerKey(kind, member_id)) for kind in _MEMBER_KINDS]
