"""What happens when a deadline passes: the same shape as a request, made by time."""

from __future__ import annotations

from group_coordinator.core.classic.rebalance import Rebalance
from group_coordinator.core.deadlines.consumer import fire_timer
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.decision import Decision
from group_coordinator.core.model.group import (
    JOIN_TIMER,
    NEVER_MS,
    SYNC_TIMER,
    ClassicGroup,
    Group,
    member_of_session_timer,
)
from group_coordinator.core.model.records import Reason
from group_coordinator.core.model.states import ClassicState
from group_coordinator.core.offsets import expiration
from group_coordinator.core.value import Value


class Deadline(Value, frozen=True):
    """Something that time will do to a group: a timer, or, without a key, the sweep of expired offsets."""

    due_ms: int
    timer_key: str | None
    swept_ms: int
    """Sweeps up to this time lie behind the group when the deadline has fired."""


def first_deadline(group: Group, swept_ms: int, config: CoordinatorConfig) -> Deadline | None:
    """The deadline to fire next; sweeps up to `swept_ms` are done.

    Timers of one millisecond fire in the order they were set. A sweep is set by the sweep before it, hence earlier than
    all timers that were set since then.
    """
    if group.membership is None:
        return _end_of_memory(group, config)
    sweep_ms = expiration.next_sweep(group, swept_ms, config)
    timers = group.membership.timers
    if not timers:
        return None if sweep_ms is None else Deadline(sweep_ms, None, sweep_ms)
    key, timer = min(timers.items(), key=lambda item: item[1].due_ms)
    before_sweep = timer.armed_ms < timer.due_ms - config.offsets_retention_check_interval_ms
    timer_swept_ms = timer.due_ms - 1 if before_sweep else timer.due_ms
    if sweep_ms is not None and sweep_ms <= timer_swept_ms:
        return Deadline(sweep_ms, None, sweep_ms)
    return Deadline(timer.due_ms, key, max(swept_ms, timer_swept_ms))


def _end_of_memory(group: Group, config: CoordinatorConfig) -> Deadline | None:
    """What was told of the cluster's topics to a group that does not exist is kept as long as an offset would be."""
    if group.topics is None:
        return None
    due_ms = min(group.clock_ms + max(config.retention_ms, 0), NEVER_MS)
    return Deadline(due_ms, None, due_ms)


def fire(group: Group, deadline: Deadline, now_ms: int, config: CoordinatorConfig) -> Decision:
    """Decide what an elapsed deadline brings; a timer is gone in the next membership."""
    if group.membership is None:
        return Decision([], [], forgets_topics=True)
    if deadline.timer_key is None:
        return expiration.sweep(group, now_ms, config)
    if isinstance(group.membership, ConsumerGroup):
        return fire_timer(group, group.membership, deadline.timer_key, now_ms, config)
    return _fire_timer(group.membership, deadline.timer_key, now_ms, config)


def _fire_timer(
    membership: ClassicGroup, key: str, now_ms: int, config: CoordinatorConfig
) -> Decision:
    timer = membership.timers[key]
    reason = Reason.REBALANCE_TIMEOUT if key in (JOIN_TIMER, SYNC_TIMER) else Reason.SESSION_TIMEOUT
    step = Rebalance(membership, now_ms, config, reason)
    step.cancel(key)
    if key == JOIN_TIMER:
        step.join_timer_fired(timer.due_ms - timer.armed_ms)
    elif key == SYNC_TIMER:
        _sync_timed_out(step)
    else:
        _session_timed_out(step, member_of_session_timer(key))
    return step.decision()


def _sync_timed_out(step: Rebalance) -> None:
    """Members that never sent their SyncGroup are out, static ones too (expirePendingSync)."""
    group = step.group
    if group.pending_syncs:
        for member_id in sorted(group.pending_syncs):
            step.remove_member(member_id)
        step.prepare_rebalance()


def _session_timed_out(step: Rebalance, member_id: str) -> None:
    """A member fell silent, or a pending one never came back (expireClassicGroupMemberHeartbeat)."""
    group = step.group
    member = group.members.get(member_id)
    if member is None and member_id not in group.pending_joins:
        return
    if member is not None and member.is_waiting and not member.is_new:
        return  # it cannot heartbeat while its request is parked
    step.remove_member(member_id)
    if group.state is ClassicState.PREPARING_REBALANCE:
        if group.has_all_members_joined:
            # Unlike a join or a leave, this ends even an initial delay.
            step.complete_join()
    elif member is not None:
        step.prepare_rebalance()
