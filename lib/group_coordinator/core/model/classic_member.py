"""A member of a classic group, its protocols and reply addresses; the states of groups, and the table of their transitions."""

from __future__ import annotations

from enum import StrEnum

from group_coordinator.core.embedded_protocol import parse_subscription
from group_coordinator.core.model.errors import IllegalTransitionError
from group_coordinator.core.value import Value


class ReplyAddress(Value, frozen=True):
    """The reply address of a request. Pending requests keep theirs in the group state."""

    event_id: str
    correlation_id: str | None
    version: int
    reply_partition: int | None = None
    """The partition of the responses topic that the client reads; None: the group's partition."""


class Protocol(Value, frozen=True):
    """An entry of a member's protocol list in JoinGroup. The list has the member's order of preference."""

    name: str
    metadata: bytes

    @property
    def topics(self) -> tuple[str, ...] | None:
        """The topics that a consumer subscribes to (KIP-496); None: unreadable. Other clients have bytes of their own."""
        return parse_subscription(self.metadata)


class ClassicMember(Value, frozen=True, kw_only=True):
    """A member of a classic group. It is replaced, never changed."""

    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    protocols: tuple[Protocol, ...]
    assignment: bytes = b""
    is_new: bool = False
    """True until the first response to its JoinGroup: such a member cannot send heartbeats, so its session may end in the meantime."""
    awaiting_join: ReplyAddress | None = None
    awaiting_sync: ReplyAddress | None = None

    @property
    def is_waiting(self) -> bool:
        """True: a request of the member is pending."""
        return self.awaiting_join is not None or self.awaiting_sync is not None

    def protocol(self, name: str | None) -> Protocol | None:
        """Return the member's own entry for a protocol name; None if it does not list the name."""
        return next((protocol for protocol in self.protocols if protocol.name == name), None)


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
