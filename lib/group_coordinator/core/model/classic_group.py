"""The membership of a classic group. Data and questions only: handlers decide, the rebalance changes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from msgspec import Raw

from group_coordinator.core.model.classic_member import Member
from group_coordinator.core.model.errors import CoordinatorError, ErrorCode
from group_coordinator.core.model.member_index import MemberIndex
from group_coordinator.core.model.states import ClassicState
from group_coordinator.core.model.stored_values import StoredValues
from group_coordinator.core.model.timers import Timers

CONSUMER_PROTOCOL_TYPE = "consumer"


@dataclass(slots=True)
class ClassicGroup:
    """Membership under the classic protocol (ClassicGroup in Kafka).

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
    """Union of the members' subscriptions at the last join; None: not known."""
    members: StoredValues[Member, Raw] = field(default_factory=StoredValues)
    """Once somebody has asked for the index, only put and remove change them."""
    pending_joins: set[str] = field(default_factory=set)
    """Ids given out with MEMBER_ID_REQUIRED whose owners have not come back yet."""
    pending_syncs: dict[str, None] = field(default_factory=dict)
    """Ids of the members whose SyncGroup has not come yet, ascending."""
    timers: Timers = field(default_factory=Timers)
    initial_delay_left_ms: int | None = None
    """How much the initial rebalance delay may still be extended; None outside an initial rebalance."""
    new_member_added: bool = False
    """A member came during the current initial delay, so that it will be extended."""
    known_index: MemberIndex | None = field(default=None, compare=False, repr=False)
    """None: nobody has asked for the index yet."""

    def copy(self) -> ClassicGroup:
        """A group that can be changed without touching this one; its values are immutable and shared."""
        return ClassicGroup(
            self.state,
            self.previous_state,
            self.state_timestamp_ms,
            self.generation,
            self.protocol_type,
            self.protocol,
            self.leader,
            self.subscribed_topics,
            self.members.copy(),
            self.pending_joins.copy(),
            self.pending_syncs.copy(),
            self.timers.copy(),
            self.initial_delay_left_ms,
            self.new_member_added,
            None if self.known_index is None else self.known_index.copy(),
        )

    def put(self, member: Member) -> None:
        """Store a member in place of the one with its id."""
        old = self.members.get(member.member_id)
        self.members[member.member_id] = member
        if self.known_index is None:
            return
        if old is None:
            self.known_index.add(member)
        else:
            self.known_index.replace(old, member)

    def remove(self, member_id: str) -> Member | None:
        """Forget a member; None: it is not known."""
        old = self.members.pop(member_id, None)
        if old is not None and self.known_index is not None:
            self.known_index.remove(old)
        return old

    @property
    def index(self) -> MemberIndex:
        """What follows from all members together."""
        if self.known_index is None:
            self.known_index = MemberIndex.of(self.members.values())
        return self.known_index

    @property
    def is_of_consumers(self) -> bool:
        """Whether the members are consumers, whose subscriptions the coordinator can read (KIP-496)."""
        return self.protocol_type == CONSUMER_PROTOCOL_TYPE

    @property
    def awaiting_joins(self) -> list[str]:
        """Ids of the members whose JoinGroup is parked, sorted."""
        return sorted(key for key, member in self.members.items() if member.awaiting_join)

    @property
    def has_all_members_joined(self) -> bool:
        """Whether every member has joined, and every id that was given out has come back."""
        return not self.pending_joins and self.index.joined == len(self.members)

    @property
    def rebalance_timeout_ms(self) -> int:
        """The longest rebalance timeout of the members: how long a phase of a rebalance may take."""
        return max(self.index.rebalance_timeouts_ms, default=0)

    def is_subscribed_to(self, topic: str) -> bool:
        """Whether the topic's offsets are in use; an unknown subscription of consumers covers every topic."""
        if self.subscribed_topics is None:
            return self.is_of_consumers
        return topic in self.subscribed_topics

    def static_member_id(self, group_instance_id: str) -> str | None:
        """The member id that a static member has at present."""
        return next(iter(self.index.static_ids.get(group_instance_id, ())), None)

    def check_member(self, member_id: str, group_instance_id: str | None) -> Member:
        """The member that sent a request.

        Raises:
            CoordinatorError: UNKNOWN_MEMBER_ID, or FENCED_INSTANCE_ID where another member has its instance id now.
        """
        if group_instance_id is not None:
            existing = self.static_member_id(group_instance_id)
            if existing is not None and existing != member_id:
                raise CoordinatorError(ErrorCode.FENCED_INSTANCE_ID)
            if existing is None:
                raise CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID)
        if member_id not in self.members:
            raise CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID)
        return self.members[member_id]

    def supports_protocols(self, protocol_type: str, names: set[str]) -> bool:
        """Whether a member that speaks these protocols could be in the group with the present members."""
        if self.state is ClassicState.EMPTY:
            return protocol_type != "" and bool(names)
        if not self.members:
            # All members left during the initial delay: no protocol is common to them, but the type stays.
            return protocol_type == self.protocol_type and bool(names)
        return protocol_type == self.protocol_type and not names.isdisjoint(self.common_protocols())

    def common_protocols(self) -> set[str]:
        """Names that are listed as often as there are members: as Kafka counts, so one that somebody lists twice is none."""
        supporters = self.index.supporters.items()
        return {name for name, number in supporters if number == len(self.members)}

    def select_protocol(self) -> str:
        """The protocol with the most votes; each member votes for its first that all support. Ties: by name.

        Where names that come twice leave somebody without a vote, or with a protocol of others, Kafka's group waits until
        its members are out; ours goes by the name that most members list.
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
        """The name that is in the lists of most members. Ties: by name."""
        lists = [{p.name for p in member.protocols} for member in self.members.values()]
        listed = Counter(name for names in lists for name in names)
        return max(sorted(listed), key=listed.__getitem__)
