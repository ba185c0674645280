"""A join phase to which nobody came: only static members are left, and it begins again until their sessions end (KIP-345).

Kafka looks again whenever the longest rebalance timeout has passed, be it one of 0 ms, and sees the same until somebody
comes: then the phase lasts until the next look. Here most looks in between are left out.

Told in: stories/classic/static_rebalances.py.
"""

from __future__ import annotations

from group_coordinator.core.model.classic_group import ClassicGroup
from group_coordinator.core.model.timers import JOIN_TIMER

_SHORTEST_WAIT_MS = 1_000


def wait_for_anybody(rebalance_timeout_ms: int) -> int:
    """After how many milliseconds to look again: at one of the times at which Kafka does."""
    timeout_ms = max(rebalance_timeout_ms, 1)
    return -(-_SHORTEST_WAIT_MS // timeout_ms) * timeout_ms


def wait_for_others(before: ClassicGroup, membership: ClassicGroup, now_ms: int) -> int | None:
    """The first member comes now: after how many milliseconds Kafka looks again; None: when the timer runs out.

    `before` is the group before it came, which may have changed the longest rebalance timeout.
    """
    timer = membership.timers.get(JOIN_TIMER)
    if timer is None or timer.due_ms - timer.armed_ms >= 2 * _SHORTEST_WAIT_MS:
        return None
    timeout_ms = before.rebalance_timeout_ms
    length_ms = timer.due_ms - timer.armed_ms
    if length_ms <= max(timeout_ms, 0) or length_ms != wait_for_anybody(timeout_ms):
        return None
    if not _began_again(before) or not membership.awaiting_joins:
        return None
    return timeout_ms - (now_ms - timer.armed_ms) % timeout_ms if timeout_ms > 0 else 0


def _began_again(before: ClassicGroup) -> bool:
    """Whether nobody came to the join phase: static members alone are left, and an initial delay is over."""
    if not before.members or before.initial_delay_left_ms is not None:
        return False
    return all(
        member.group_instance_id is not None and member.awaiting_join is None
        for member in before.members.values()
    )
