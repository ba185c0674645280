"""What a decision changes in a consumer group beside its log: Kafka's soft state, which a restart sets anew."""

from __future__ import annotations

from typing import assert_never

from group_coordinator.core.consumer_group import ConsumerGroup
from group_coordinator.core.value import Value
from group_coordinator.core.values import Timer


class SetTimer(Value, frozen=True):
    """A timer is set, or set anew behind all others."""

    key: str
    due_ms: int


class SetRebalanceTimer(Value, frozen=True):
    """A member that has to give partitions back gets its time for it; the timer only counts at this member epoch."""

    key: str
    due_ms: int
    member_id: str
    member_epoch: int


class CancelTimer(Value, frozen=True):
    """A timer is forgotten; it is no fault if there is none."""

    key: str


class SetMetadataDeadline(Value, frozen=True):
    """Until then the metadata hash counts, unless topics change before."""

    deadline_ms: int


SoftChange = SetTimer | SetRebalanceTimer | CancelTimer | SetMetadataDeadline


def apply_soft_change(group: ConsumerGroup, change: SoftChange, now_ms: int) -> int | None:
    """Change the group; the due time of a new timer."""
    match change:
        case SetTimer():
            return _set_timer(group, change.key, change.due_ms, now_ms)
        case SetRebalanceTimer():
            group.rebalance_epochs[change.member_id] = change.member_epoch
            return _set_timer(group, change.key, change.due_ms, now_ms)
        case CancelTimer():
            group.timers.pop(change.key, None)
        case SetMetadataDeadline():
            group.metadata_deadline_ms = change.deadline_ms
        case _:
            assert_never(change)
    return None


def _set_timer(group: ConsumerGroup, key: str, due_ms: int, now_ms: int) -> int:
    group.timers.pop(key, None)
    group.timers[key] = Timer(due_ms, now_ms)
    return due_ms
