"""The membership of a classic group: data and queries. Handlers decide, the rebalance changes it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from msgspec import Raw

from group_coordinator.core.model.classic_member import ClassicMember, ClassicState
from group_coordinator.core.model.consumer_member import MemberIndex
from group_coordinator.core.model.errors import CoordinatorError, ErrorCode
from group_coordinator.core.model.stored_values import StoredValues
from group_coordinator.core.model.timers import Timers

CONSUMER_PROTOCOL_TYPE = "consumer"


@dataclass(slots=True, kw_only=True)
class ClassicGroup:
    """A membership of the classic protocol (ClassicGroup in Kafka).

    A *simple* group is a ClassicGroup without protocol type: it only stores offsets.
    """

    state: ClassicState = ClassicState.EMPTY
    previous_state: ClassicState = ClassicState.DEAD
    state_timestamp_ms: int | None = None
    generation: int = 0
    protocol_type: str | None = None
    protocol: str | None = None
    leader: str | None = None
    subscribed_topics: frozenset[str] | None = None
    """Union of the members' subscriptions at the last join; None: unknown."""
    members: StoredValues[ClassicMember, Raw] = field(default_factory=StoredValues)
    """The members by id. Once the index exists, only put and remove may change them."""
    pending_joins: set[str] = field(default_factory=set)
    """Ids sent with MEMBER_ID_REQUIRED whose owners have not joined again yet."""
    pending_syncs: dict[str, None] = field(default_factory=dict)
    """Ids of the members without a SyncGroup so far, ascending."""
    timers: Timers = field(default_factory=Timers)
    initial_delay_left_ms: int | None = None
    """The time by which the initial rebalance delay may still be extended; None outside an initial rebalance."""
    new_member_added: bool = False
    """A member joined during the current initial delay, so the delay will be extended."""
    known_index: MemberIndex | None = field(default=None, compare=False, repr=False)
    """None until the first use."""

    def copy(self) -> ClassicGroup:
        """Return a group that can be changed without changing this group. Its values are immutable and shared."""
        return ClassicGroup(
            state=self.state,
            previous_state=self.previous_state,
            state_timestamp_ms=self.state_timestamp_ms,
            generation=self.generation,
            protocol_type=self.protocol_type,
            protocol=self.protocol,
            leader=self.leader,
            subscribed_topics=self.subscribed_topics,
            members=self.members.copy(),
            pending_joins=self.pending_joins.copy(),
            pending_syncs=self.pending_syncs.copy(),
            timers=self.timers.copy(),
            initial_delay_left_ms=self.initial_delay_left_ms,
            new_member_added=self.new_member_added,
            known_index=None if self.known_index is None else self.known_index.copy(),
        )

    def put(self, member: ClassicMember) -> None:
        """Store a member; it replaces the member with its id."""
        old = self.members.get(member.member_id)
        self.members[member.member_id] = member
        if self.known_index is None:
            return
        if old is None:
            self.known_index.add(member)
        else:
            self.known_index.replace(old, member)

    def remove(self, member_id: str) -> ClassicMember | None:
        """Remove and return a member; None: it is unknown."""
        old = self.members.pop(member_id, None)
        if old is not None and self.known_index is not None:
            self.known_index.remove(old)
        return old

    @property
    def index(self) -> MemberIndex:
        if self.known_index is None:
            self.known_index = MemberIndex.of(self.members.values())
        return self.known_index

    @property
    def is_of_consumers(self) -> bool:
        """True: the members are consumers, whose subscriptions the coordinator can read (KIP-496)."""
        return self.protocol_type == CONSUMER_PROTOCOL_TYPE

    @property
    def awaiting_joins(self) -> list[str]:
        """Ids of the members with a pending JoinGroup, sorted."""
        return sorted(key for key, member in self.members.items() if member.awaiting_join)

    @property
    def has_all_members_joined(self) -> bool:
        """True: every member has joined, and every pending member id has been used."""
        return not self.pending_joins and self.index.joined == len(self.members)

    @property
    def rebalance_timeout_ms(self) -> int:
        """The longest rebalance timeout of the members: the limit of each phase of a rebalance."""
        return max(self.index.rebalance_timeouts_ms, default=0)

    def is_subscribed_to(self, topic: str) -> bool:
        """Return True if the topic's offsets are in use. An unknown subscription of consumers includes every topic."""
        if self.subscribed_topics is None:
            return self.is_of_consumers
        return topic in self.subscribed_topics

    def static_member_id(self, group_instance_id: str) -> str | None:
        """Return the present member id of a static member."""
        return next(iter(self.index.static_ids.get(group_instance_id, ())), None)

    def check_member(self, member_id: str, group_instance_id: str | None) -> ClassicMember:
        """Return the member that sent a request.

        Raises CoordinatorError: UNKNOWN_MEMBER_ID; FENCED_INSTANCE_ID if another member has the instance id now.
        """
        if group_instance_id is not None:
            existing = self.static_member_id(group_instance_id)
            # As in Kafka the instance id is first: a fenced client must learn that it is fenced.
            if existing is not None and existing != member_id:
                raise CoordinatorError(ErrorCode.FENCED_INSTANCE_ID)
            if existing is None:
                raise CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID)
        if member_id not in self.members:
            raise CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID)
        return self.members[member_id]

    def supports_protocols(self, protocol_type: str, names: set[str]) -> bool:
        """Return True if a member with these protocols could join the present members."""
        if self.state is ClassicState.EMPTY:
            return protocol_type != "" and bool(names)
        if not self.members:
            # All members left during the initial delay: no common protocol, but the type stays.
            return protocol_type == self.protocol_type and bool(names)
        return protocol_type == self.protocol_type and not names.isdisjoint(self.common_protocols())

    def common_protocols(self) -> set[str]:
        """Return the names that are listed as often as there are members. As in Kafka, a repeated name is not common."""
        supporters = self.index.supporters.items()
        return {name for name, number in supporters if number == len(self.members)}

    def select_protocol(self) -> str:
        """Elect the protocol: each member votes for its first that all support. Ties are broken by name.

        Names that are listed twice may leave a member without a vote, or with a protocol of other members. Kafka's group then
        waits until its members are removed; this group elects the name that most members list.
        """
        candidates = self.common_protocols()
        votes = dict.fromkeys(sorted(candidates), 0)
        for member in self.members.values():
            vote = next((p.name for p in member.protocols if p.name in candidates), None)
            if vote is None:
                return self._most_listed_protocol()
            votes[vote] += 1
        elected = max(votes, key=votes.__getitem__)
        is_of_all = all(member.protocol(elected) for member in self.members.values())
        return elected if is_of_all else self._most_listed_protocol()

    def _most_listed_protocol(self) -> str:
        # Each member counts once for each name.
        lists = [{p.name for p in member.protocols} for member in self.members.values()]
        listed = Counter(name for names in lists for name in names)
        return max(sorted(listed), key=listed.__getitem__)
