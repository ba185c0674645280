"""The values of a consumer group (KIP-848) and its members, as the log has them. All are immutable."""

from __future__ import annotations

from enum import IntEnum
from typing import TypeAlias

from group_coordinator.core.model.classic_member import Protocol
from group_coordinator.core.value import Value

OwnedPartitions: TypeAlias = dict[str, dict[int, int]]
"""Topic id -> partition -> the assignment epoch of the partition's assignment (KIP-1251). Ascending; no inner dict is empty."""

JOIN_EPOCH = 0
"""Member epoch of a request to join."""

LEFT_EPOCH = -1
"""Member epoch of a member that leaves, and of a member with an unknown current assignment."""

STATIC_LEFT_EPOCH = -2
"""Member epoch of a static member that will join again."""


class ReconciliationState(IntEnum):
    """The state of a member's reconciliation. The numbers are those of Kafka's log."""

    STABLE = 0
    """The member has the target of this epoch."""

    UNREVOKED_PARTITIONS = 1
    """The member must revoke partitions before it moves on to the next epoch."""

    UNRELEASED_PARTITIONS = 2
    """The member is at its target's epoch, but waits for partitions that other members still own."""

    UNKNOWN = 127
    """A later Kafka wrote this state; the member must join again."""


class ClassicMetadata(Value, frozen=True):
    """The fields of a member that speaks the classic protocol."""

    session_timeout_ms: int
    protocols: tuple[Protocol, ...]


class SubscriptionMetadata(Value, frozen=True, kw_only=True):
    """The identity and the subscription of a member: the value of record type 5."""

    group_instance_id: str | None
    rack_id: str | None
    client_id: str
    client_host: str
    topic_names: tuple[str, ...]
    """Topics subscribed by name: sorted, no repetition."""
    topic_regex: str | None
    """A regular expression (RE2) that whole topic names match."""
    rebalance_timeout_ms: int
    """-1: unknown, which occurs only in logs of other coordinators."""
    server_assignor: str | None
    classic: ClassicMetadata | None
    """None: a member of the consumer protocol."""


class CurrentAssignment(Value, frozen=True):
    """The present partitions of a member: the value of record type 8."""

    epoch: int
    previous_epoch: int
    state: ReconciliationState
    assigned: OwnedPartitions
    pending_revocation: OwnedPartitions


NO_METADATA = SubscriptionMetadata(
    group_instance_id=None,
    rack_id=None,
    client_id="",
    client_host="",
    topic_names=(),
    topic_regex=None,
    rebalance_timeout_ms=-1,
    server_assignor=None,
    classic=None,
)
"""The metadata of a member without a record of type 5 so far."""

JUST_CREATED = CurrentAssignment(0, LEFT_EPOCH, ReconciliationState.STABLE, {}, {})
"""The assignment of a member without a record of type 8 so far."""

ASSIGNMENT_GONE = CurrentAssignment(LEFT_EPOCH, LEFT_EPOCH, ReconciliationState.STABLE, {}, {})
"""The assignment of a member after a tombstone of type 8."""


class ConsumerMember(Value, frozen=True):
    """A member of a consumer group. It is replaced, never changed."""

    member_id: str
    metadata: SubscriptionMetadata = NO_METADATA
    current: CurrentAssignment = JUST_CREATED

    @property
    def epoch(self) -> int:
        """The member epoch: the epoch of the target that the member has reached, or STATIC_LEFT_EPOCH."""
        return self.current.epoch

    @property
    def group_instance_id(self) -> str | None:
        """Set for a static member."""
        return self.metadata.group_instance_id

    @property
    def uses_classic_protocol(self) -> bool:
        """True: the member joined by JoinGroup."""
        return self.metadata.classic is not None

    def is_reconciled_to(self, assignment_epoch: int) -> bool:
        """Return True if the member needs no further step at this assignment epoch."""
        current = self.current
        return current.state is ReconciliationState.STABLE and current.epoch == assignment_epoch


class GroupEpoch(Value, frozen=True):
    """The value of record type 3. The hash is of the subscribed topics that exist."""

    epoch: int
    metadata_hash: int = 0


class TargetEpoch(Value, frozen=True):
    """The value of record type 6: the group epoch and the time of the targets."""

    epoch: int
    timestamp_ms: int = 0
    """0: unknown, so that the next target need not wait."""


class ResolvedRegex(Value, frozen=True):
    """The value of record type 16: the topics that a subscribed regular expression matched."""

    topics: tuple[str, ...]
    version: int
    """The version of the topic metadata that it was matched with (Group.topics_version)."""
    timestamp_ms: int
