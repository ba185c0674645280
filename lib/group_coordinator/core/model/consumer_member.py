"""Values of a consumer group (KIP-848): what its log says of the group, and of each member. All are immutable."""

from __future__ import annotations

from enum import IntEnum
from typing import TypeAlias

from group_coordinator.core.assignors.spec import Assignment
from group_coordinator.core.model.classic_member import Protocol
from group_coordinator.core.value import Value

OwnedPartitions: TypeAlias = dict[str, dict[int, int]]
"""Topic id -> partition -> the assignment epoch at which the member got it (KIP-1251); ascending, no empty inner ones."""

JOIN_EPOCH = 0
"""Member epoch of a request to join."""

LEFT_EPOCH = -1
"""Member epoch of a member that leaves, and of one whose current assignment is not known."""

STATIC_LEFT_EPOCH = -2
"""Member epoch of a static member that will come back."""


class MemberState(IntEnum):
    """How far a member's reconciliation is; the numbers are those of Kafka's log."""

    STABLE = 0
    """It has what its target of this epoch says."""

    UNREVOKED_PARTITIONS = 1
    """It must give partitions back before it moves on to the next epoch."""

    UNRELEASED_PARTITIONS = 2
    """It is at its target's epoch, but waits for partitions that other members still hold."""

    UNKNOWN = 127
    """A later Kafka wrote it; the member must begin anew."""


class ClassicMetadata(Value, frozen=True):
    """What a consumer group keeps of a member that speaks the classic protocol."""

    session_timeout_ms: int
    protocols: tuple[Protocol, ...]


class SubscriptionMetadata(Value, frozen=True):
    """Who a member is and what it wants: the value of record type 5."""

    group_instance_id: str | None
    rack_id: str | None
    client_id: str
    client_host: str
    topic_names: tuple[str, ...]
    """Subscribed by name; sorted, no repetition."""
    topic_regex: str | None
    """Subscribed by a pattern that names match as a whole (RE2)."""
    rebalance_timeout_ms: int
    """-1: not known, as only a log that another coordinator wrote can have it."""
    server_assignor: str | None
    classic: ClassicMetadata | None
    """None: it speaks the consumer protocol."""


class CurrentAssignment(Value, frozen=True):
    """What a member has: the value of record type 8."""

    epoch: int
    previous_epoch: int
    state: MemberState
    assigned: OwnedPartitions
    pending_revocation: OwnedPartitions


NO_METADATA = SubscriptionMetadata(None, None, "", "", (), None, -1, None, None)
"""Of a member whose record of type 5 has not been seen."""

JUST_CREATED = CurrentAssignment(0, LEFT_EPOCH, MemberState.STABLE, {}, {})
"""Of a member without a record of type 8 yet."""

ASSIGNMENT_GONE = CurrentAssignment(LEFT_EPOCH, LEFT_EPOCH, MemberState.STABLE, {}, {})
"""Of a member whose record of type 8 has been tombstoned."""


class ConsumerMember(Value, frozen=True):
    """A member of a consumer group; replaced, never changed."""

    member_id: str
    metadata: SubscriptionMetadata = NO_METADATA
    current: CurrentAssignment = JUST_CREATED

    @property
    def epoch(self) -> int:
        """The member epoch: which target the member has been brought to, or STATIC_LEFT_EPOCH."""
        return self.current.epoch

    @property
    def group_instance_id(self) -> str | None:
        """Set: the member is static."""
        return self.metadata.group_instance_id

    @property
    def uses_classic_protocol(self) -> bool:
        """Whether it joined by JoinGroup."""
        return self.metadata.classic is not None

    def is_reconciled_to(self, assignment_epoch: int) -> bool:
        """Whether there is nothing more to do for it at this assignment epoch."""
        current = self.current
        return current.state is MemberState.STABLE and current.epoch == assignment_epoch


class GroupEpoch(Value, frozen=True):
    """The value of record type 3; the hash covers the subscribed topics that exist."""

    epoch: int
    metadata_hash: int = 0


class TargetEpoch(Value, frozen=True):
    """The value of record type 6: the group epoch that the targets were computed for, and when."""

    epoch: int
    timestamp_ms: int = 0
    """0: not known, so that the next target need not wait."""


class ResolvedRegex(Value, frozen=True):
    """The value of record type 16: which topics a subscribed pattern matched."""

    topics: tuple[str, ...]
    """Sorted."""
    version: int
    """Of the topics' metadata that it was matched with (Group.topics_version)."""
    timestamp_ms: int


__all__ = [
    "ASSIGNMENT_GONE",
    "JOIN_EPOCH",
    "JUST_CREATED",
    "LEFT_EPOCH",
    "NO_METADATA",
    "STATIC_LEFT_EPOCH",
    "Assignment",
    "ClassicMetadata",
    "ConsumerMember",
    "CurrentAssignment",
    "GroupEpoch",
    "MemberState",
    "OwnedPartitions",
    "ResolvedRegex",
    "SubscriptionMetadata",
    "TargetEpoch",
]
