"""What a decision changes in a consumer group beside its log: Kafka's soft state, which a restart sets anew."""

from __future__ import annotations

from typing import assert_never

from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.consumer_member import MemberState
from group_coordinator.core.model.timers import Timer, TimerKey, TimerKind, session_timer
from group_coordinator.core.value import Value


class SetTimer(Value, frozen=True):
    """A timer is set, or set anew behind all others."""

    key: TimerKey
    due_ms: int


class SetRebalanceTimer(Value, frozen=True):
    """A member that has to give partitions back gets its time for it; the timer only counts at this member epoch."""

    member_id: str
    due_ms: int
    member_epoch: int


class CancelTimer(Value, frozen=True):
    """A timer is forgotten; no error if it is not set."""

    key: TimerKey


class SetMetadataDeadline(Value, frozen=True):
    """Until then the metadata hash counts, unless topics change before."""

    deadline_ms: int


SoftChange = SetTimer | SetRebalanceTimer | CancelTimer | SetMetadataDeadline


def apply_soft_change(membership: ConsumerGroup, change: SoftChange, now_ms: int) -> int | None:
    """Change the group; the due time of a new timer."""
    match change:
        case SetTimer():
            return _set_timer(membership, change.key, change.due_ms, now_ms)
        case SetRebalanceTimer():
            membership.rebalance_epochs[change.member_id] = change.member_epoch
            return _set_timer(membership, _rebalance_timer(change.member_id), change.due_ms, now_ms)
        case CancelTimer():
            membership.timers.pop(change.key, None)
            if change.key.kind is TimerKind.REBALANCE:
                membership.rebalance_epochs.pop(change.key.member_id, None)
        case SetMetadataDeadline():
            membership.metadata_deadline_ms = change.deadline_ms
        case _:
            assert_never(change)
    return None


def begin_timers(membership: ConsumerGroup, now_ms: int, session_timeout_ms: int) -> None:
    """Set the timers that a coordinator sets when it has loaded the group's log: everybody's time begins anew."""
    membership.timers.clear()
    membership.rebalance_epochs.clear()
    for member_id, member in membership.members.items():
        _set_timer(membership, session_timer(member_id), now_ms + session_timeout_ms, now_ms)
        if member.current.state is MemberState.UNREVOKED_PARTITIONS:
            due_ms = now_ms + max(0, member.metadata.rebalance_timeout_ms)
            membership.rebalance_epochs[member_id] = member.epoch
            _set_timer(membership, _rebalance_timer(member_id), due_ms, now_ms)


def _rebalance_timer(member_id: str) -> TimerKey:
    return TimerKey(TimerKind.REBALANCE, member_id)


def _set_timer(membership: ConsumerGroup, key: TimerKey, due_ms: int, now_ms: int) -> int:
    membership.timers.pop(key, None)
    membership.timers[key] = Timer(due_ms, now_ms)
    return due_ms
