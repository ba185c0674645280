"""What happens in a classic group when a timer runs out.

Told in: stories/classic/sessions.py, stories/classic/syncing.py, stories/classic/rebalancing.py.
"""

from __future__ import annotations

from group_coordinator.core.classic.rebalance import Rebalance
from group_coordinator.core.model.classic_group import ClassicGroup
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.decision import Decision
from group_coordinator.core.model.records import Reason
from group_coordinator.core.model.states import ClassicState
from group_coordinator.core.model.timers import TimerKey, TimerKind


def fire_timer(
    membership: ClassicGroup, key: TimerKey, now_ms: int, config: CoordinatorConfig
) -> Decision:
    """Decide what an elapsed timer brings; it is gone in the next membership."""
    timer = membership.timers[key]
    is_session = key.kind is TimerKind.SESSION
    reason = Reason.SESSION_TIMEOUT if is_session else Reason.REBALANCE_TIMEOUT
    rebalance = Rebalance(membership, now_ms, config, reason)
    rebalance.cancel(key)
    match key.kind:
        case TimerKind.JOIN_PHASE:
            rebalance.join_timer_fired(timer.due_ms - timer.armed_ms)
        case TimerKind.SYNC_PHASE:
            _sync_timed_out(rebalance)
        case TimerKind.SESSION:
            _session_timed_out(rebalance, key.member_id)
        case _:
            pass  # left from a consumer group, where it may count again after an upgrade
    return rebalance.decision()


def _sync_timed_out(rebalance: Rebalance) -> None:
    """Members that never sent their SyncGroup are out, static ones too (expirePendingSync)."""
    membership = rebalance.membership
    if membership.pending_syncs:
        for member_id in sorted(membership.pending_syncs):
            rebalance.remove_member(member_id)
        rebalance.prepare_rebalance()


def _session_timed_out(rebalance: Rebalance, member_id: str) -> None:
    """A member fell silent, or a pending one never came back (expireClassicGroupMemberHeartbeat)."""
    membership = rebalance.membership
    member = membership.members.get(member_id)
    if member is None and member_id not in membership.pending_joins:
        return
    if member is not None and member.is_waiting and not member.is_new:
        return  # it cannot heartbeat while its request is parked
    rebalance.remove_member(member_id)
    if membership.state is ClassicState.PREPARING_REBALANCE:
        if membership.has_all_members_joined:
            # Unlike a join or a leave, this ends even an initial delay.
            rebalance.complete_join()
    elif member is not None:
        rebalance.prepare_rebalance()
