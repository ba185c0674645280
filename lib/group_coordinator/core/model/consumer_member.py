"""The values of a consumer group (KIP-848) and its members, as the log has them, all immutable; an index over all members.

Ten thousand members that join with one event each must not look at all ten thousand each time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from enum import IntEnum
from operator import attrgetter
from typing import TypeAlias, TypeVar

from msgspec import Struct, field

from group_coordinator.core.model.classic_member import ClassicMember, Protocol
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


Name = TypeVar("Name")


def add_to_counts(counts: dict[Name, int], names: Iterable[Name], change: int = 1) -> None:
    """Add to the count of each name, and remove names whose count is zero."""
    for name in names:
        number = counts.get(name, 0) + change
        if number:
            counts[name] = number
        else:
            del counts[name]


_NAME = attrgetter("name")

Key = TypeVar("Key", str, int)
Found = TypeVar("Found")


def _names(member: ClassicMember) -> tuple[str, ...]:
    return tuple(map(_NAME, member.protocols))


def _lists_of_names(members: Iterable[ClassicMember]) -> Counter[tuple[str, ...]]:
    # Lists of equal length are counted together: there may be thousands.
    by_length: dict[int, list[tuple[Protocol, ...]]] = {}
    for member in members:
        by_length.setdefault(len(member.protocols), []).append(member.protocols)
    found: Counter[tuple[str, ...]] = Counter()
    for length, lists in by_length.items():
        names = iter([protocol.name for protocols in lists for protocol in protocols])
        # One iterator, repeated: zip takes the names of a list at a time.
        found.update(zip(*[names] * length, strict=True))
    return found


def _sorted(found: dict[Key, Found]) -> dict[Key, Found]:
    return found if len(found) < 2 else {key: found[key] for key in sorted(found)}  # noqa: PLR2004


class MemberIndex(Struct, array_like=True):
    """Numbers that follow from the members and change with each of them. A group state has them too, sorted."""

    joined: int = 0
    """The number of members with a pending JoinGroup."""
    supporters: dict[str, int] = field(default_factory=dict)
    """The number of listings of a protocol by its name. As in Kafka, a name that a member lists twice counts twice."""
    static_ids: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Member ids by instance id, in the order of the members. Only logs of other coordinators have several."""
    rebalance_timeouts_ms: dict[int, int] = field(default_factory=dict)
    """The number of members with a rebalance timeout."""

    @classmethod
    def of(cls, members: Iterable[ClassicMember]) -> MemberIndex:
        """Make the index of these members, for many of them faster than one by one."""
        members = list(members)
        index = cls(len([member for member in members if member.awaiting_join is not None]))
        for names, number in _lists_of_names(members).items():
            index._count_protocols(names, number)
        for member in [member for member in members if member.group_instance_id is not None]:
            index._add_static(member)
        # Counted and not only the longest: when its member leaves, the next longest must be known.
        index.rebalance_timeouts_ms = Counter([member.rebalance_timeout_ms for member in members])
        return index

    def copy(self) -> MemberIndex:
        return MemberIndex(
            self.joined,
            self.supporters.copy(),
            self.static_ids.copy(),
            self.rebalance_timeouts_ms.copy(),
        )

    def sorted(self) -> MemberIndex:
        """Return an equal index in an order that does not depend on the order of the members."""
        return MemberIndex(
            self.joined,
            _sorted(self.supporters),
            _sorted(self.static_ids),
            _sorted(self.rebalance_timeouts_ms),
        )

    def add(self, member: ClassicMember) -> None:
        """Add a member behind all others."""
        self._count(member, 1)
        if member.group_instance_id is not None:
            self._add_static(member)

    def remove(self, member: ClassicMember) -> None:
        self._count(member, -1)
        instance_id = member.group_instance_id
        if instance_id is None:
            return
        others = tuple(i for i in self.static_ids[instance_id] if i != member.member_id)
        if others:
            self.static_ids[instance_id] = others
        else:
            del self.static_ids[instance_id]

    def replace(self, old: ClassicMember, new: ClassicMember) -> None:
        """Replace a member by a member with the same ids."""
        self.joined += (new.awaiting_join is not None) - (old.awaiting_join is not None)
        if new.protocols is not old.protocols:
            self._count_protocols(_names(old), -1)
            self._count_protocols(_names(new), 1)
        if new.rebalance_timeout_ms != old.rebalance_timeout_ms:
            add_to_counts(self.rebalance_timeouts_ms, (old.rebalance_timeout_ms,), -1)
            add_to_counts(self.rebalance_timeouts_ms, (new.rebalance_timeout_ms,))

    def _add_static(self, member: ClassicMember) -> None:
        instance_id = member.group_instance_id or ""
        others = self.static_ids.get(instance_id, ())
        self.static_ids[instance_id] = (*others, member.member_id)

    def _count(self, member: ClassicMember, change: int) -> None:
        self.joined += change * (member.awaiting_join is not None)
        self._count_protocols(_names(member), change)
        add_to_counts(self.rebalance_timeouts_ms, (member.rebalance_timeout_ms,), change)

    def _count_protocols(self, names: tuple[str, ...], change: int) -> None:
        add_to_counts(self.supporters, names, change)
