"""The states of groups, and the transitions of classic groups."""

from __future__ import annotations

from enum import StrEnum

from group_coordinator.core.model.errors import IllegalTransitionError


class ClassicState(StrEnum):
    """The state of a classic group, spelled as Kafka prints it."""

    EMPTY = "Empty"
    """No members; the group may have offsets. JoinGroup without a member id => PreparingRebalance. Heartbeat, SyncGroup:
    UNKNOWN_MEMBER_ID. OffsetCommit with generation -1: accepted. Offsets expire from the time at which it became Empty.
    """

    PREPARING_REBALANCE = "PreparingRebalance"
    """Waits for members to join (again); JoinGroups are pending. Heartbeat, SyncGroup: REBALANCE_IN_PROGRESS. All joined or
    time over => CompletingRebalance, no member left => Empty. Offsets do not expire.
    """

    COMPLETING_REBALANCE = "CompletingRebalance"
    """Waits for the leader's assignment; SyncGroups are pending. OffsetCommit: REBALANCE_IN_PROGRESS. SyncGroup of the leader
    => Stable; a changed or lost member => PreparingRebalance. Offsets do not expire.
    """

    STABLE = "Stable"
    """Every member has its assignment. A member that joins again, changes, leaves or times out =>
    PreparingRebalance. Offsets of topics without a subscriber expire by their commit time (KIP-496).
    """

    DEAD = "Dead"
    """The group does not exist; its name may be used again."""


class ConsumerState(StrEnum):
    """The state of a consumer group (KIP-848), spelled as Kafka prints it. Members and epochs determine it."""

    EMPTY = "Empty"
    """No members; the group may have offsets, which expire by their commit time as in every state."""

    ASSIGNING = "Assigning"
    """The group epoch is ahead of the assignment epoch: a heartbeat will compute new targets."""

    RECONCILING = "Reconciling"
    """At least one member has not reached its target."""

    STABLE = "Stable"
    """Every member has its target."""

    DEAD = "Dead"
    """The group does not exist; its name may be used again."""


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
    """Raise IllegalTransitionError unless the table has the transition (ClassicGroupState in Kafka)."""
    # Checked at each change, so that a wrong rule stops here and not in the log.
    if target not in TRANSITIONS[source]:
        message = f"a group in state {source} cannot become {target}"
        raise IllegalTransitionError(message)
