"""The states of groups, and the moves of a classic one between them."""

from __future__ import annotations

from enum import StrEnum

from group_coordinator.core.model.errors import IllegalTransitionError


class ClassicState(StrEnum):
    """State of a classic group, spelled as Kafka prints it."""

    EMPTY = "Empty"
    """No members; it may hold offsets. JoinGroup without a member id => PreparingRebalance. Heartbeat, SyncGroup:
    UNKNOWN_MEMBER_ID. OffsetCommit with generation -1: accepted. Offsets expire from the time it became Empty."""

    PREPARING_REBALANCE = "PreparingRebalance"
    """Waits for members to (re)join; joins are parked. Heartbeat, SyncGroup: REBALANCE_IN_PROGRESS. All joined or
    time over => CompletingRebalance, nobody left => Empty. Offsets do not expire."""

    COMPLETING_REBALANCE = "CompletingRebalance"
    """Waits for the leader's assignment; syncs are parked. OffsetCommit: REBALANCE_IN_PROGRESS. SyncGroup of the leader
    => Stable; a changed or lost member => PreparingRebalance. Offsets do not expire."""

    STABLE = "Stable"
    """Every member has its assignment. A member that joins anew, changes, leaves or falls silent =>
    PreparingRebalance. Offsets of topics without a subscriber expire by their commit time (KIP-496)."""

    DEAD = "Dead"
    """The group is gone; its name may be used again."""


class ConsumerState(StrEnum):
    """State of a consumer group (KIP-848), spelled as Kafka prints it; it follows from the members and the epochs."""

    EMPTY = "Empty"
    """No members; it may hold offsets, which expire by their commit time as in every state."""

    ASSIGNING = "Assigning"
    """The group epoch is ahead of the assignment epoch: a heartbeat will compute new targets."""

    RECONCILING = "Reconciling"
    """Some member does not have yet what its target says."""

    STABLE = "Stable"
    """Every member has what its target says."""

    DEAD = "Dead"
    """The group is gone; its name may be used again."""


TRANSITIONS: dict[ClassicState, frozenset[ClassicState]] = {
    ClassicState.EMPTY: frozenset({ClassicState.PREPARING_REBALANCE, ClassicState.DEAD}),
    ClassicState.PREPARING_REBALANCE: frozenset(
        {ClassicState.COMPLETING_REBALANCE, ClassicState.EMPTY, ClassicState.DEAD}
    ),
    ClassicState.COMPLETING_REBALANCE: frozenset(
        {ClassicState.STABLE, ClassicState.PREPARING_REBALANCE, ClassicState.DEAD}
    ),
    ClassicState.STABLE: frozenset({ClassicState.PREPARING_REBALANCE, ClassicState.DEAD}),
    ClassicState.DEAD: frozenset({ClassicState.DEAD}),
}


def check_transition(source: ClassicState, target: ClassicState) -> None:
    """Raise IllegalTransitionError unless the table allows the move (ClassicGroupState in Kafka)."""
    if target not in TRANSITIONS[source]:
        message = f"a group in state {source} cannot become {target}"
        raise IllegalTransitionError(message)
