"""A group and what it holds. Data and questions only: decisions are in handlers, changes in replay and rebalance."""

from __future__ import annotations

from dataclasses import dataclass, field

from group_coordinator.core.model.classic_member import (
    CommittedOffset,
    Member,
    PendingOffset,
    Timer,
    Topic,
)
from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.errors import CoordinatorError, ErrorCode
from group_coordinator.core.model.states import ClassicState

CONSUMER_PROTOCOL_TYPE = "consumer"
JOIN_TIMER = "join"
SYNC_TIMER = "sync"
_SESSION_TIMER = "session:"
_READ, _DELETE, _DESCRIBE, _DESCRIBE_CONFIGS, _ALTER_CONFIGS = 3, 6, 8, 10, 11
ALL_OPERATIONS = sum(
    1 << operation for operation in (_READ, _DELETE, _DESCRIBE, _DESCRIBE_CONFIGS, _ALTER_CONFIGS)
)
"""What a broker without an authorizer lets everybody do with a group."""

NEVER_MS = 2**62
"""Later than every deadline: even with a timeout added it is a 64-bit number."""


def session_timer(member_id: str) -> str:
    """The key of the timer that removes a member, or a pending member, that falls silent."""
    return _SESSION_TIMER + member_id


def is_session_timer(key: str) -> bool:
    """Whether the key was made by session_timer."""
    return key.startswith(_SESSION_TIMER)


def member_of_session_timer(key: str) -> str:
    """The member id inside a key made by session_timer."""
    return key.removeprefix(_SESSION_TIMER)


@dataclass(slots=True)
class ClassicGroup:
    """Membership under the classic protocol (ClassicGroup in Kafka).

    A *simple* group is a ClassicGroup without protocol type: it only stores offsets. `timers` is in the order the
    timers were set.
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
    members: dict[str, Member] = field(default_factory=dict)
    pending_joins: set[str] = field(default_factory=set)
    """Ids given out with MEMBER_ID_REQUIRED whose owners have not come back yet."""
    pending_syncs: set[str] = field(default_factory=set)
    timers: dict[str, Timer] = field(default_factory=dict)
    initial_delay_left_ms: int | None = None
    """How much the initial rebalance delay may still be extended; None outside an initial rebalance."""
    new_member_added: bool = False
    """A member came during the current initial delay, so that it will be extended."""

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
            dict(self.members),
            set(self.pending_joins),
            set(self.pending_syncs),
            dict(self.timers),
            self.initial_delay_left_ms,
            self.new_member_added,
        )

    @property
    def uses_consumer_protocol(self) -> bool:
        """Whether the members are consumers, whose subscriptions the coordinator can read (KIP-496)."""
        return self.protocol_type == CONSUMER_PROTOCOL_TYPE

    @property
    def awaiting_joins(self) -> list[str]:
        """Ids of the members whose JoinGroup is parked, sorted."""
        return sorted(key for key, member in self.members.items() if member.awaiting_join)

    @property
    def has_all_members_joined(self) -> bool:
        """Whether the join phase needs to wait for nobody any more."""
        return not self.pending_joins and all(m.awaiting_join for m in self.members.values())

    @property
    def rebalance_timeout_ms(self) -> int:
        """The longest rebalance timeout of the members: how long a phase of a rebalance may take."""
        return max((member.rebalance_timeout_ms for member in self.members.values()), default=0)

    def is_subscribed_to(self, topic: str) -> bool:
        """Whether the topic's offsets are in use; an unknown subscription of consumers covers every topic."""
        if self.subscribed_topics is None:
            return self.uses_consumer_protocol
        return topic in self.subscribed_topics

    def static_member_id(self, group_instance_id: str) -> str | None:
        """The member id that a static member has at present."""
        for member in self.members.values():
            if member.group_instance_id == group_instance_id:
                return member.member_id
        return None

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
        member = self.members.get(member_id)
        if member is None:
            raise CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID)
        return member

    def supports_protocols(self, protocol_type: str, names: set[str]) -> bool:
        """Whether a member that speaks these protocols could be in the group with the present members."""
        if self.state is ClassicState.EMPTY:
            return protocol_type != "" and bool(names)
        if not self.members:
            # All left during the initial delay: any protocol is common to nobody, but the type stays.
            return protocol_type == self.protocol_type and bool(names)
        return protocol_type == self.protocol_type and not names.isdisjoint(self.common_protocols())

    def common_protocols(self) -> set[str]:
        """Names of the protocols that every member lists."""
        lists = ({protocol.name for protocol in m.protocols} for m in self.members.values())
        return set.intersection(*lists) if self.members else set()

    def select_protocol(self) -> str:
        """The protocol with the most votes; each member votes for its first that all support. Ties: by name."""
        candidates = self.common_protocols()
        votes = dict.fromkeys(sorted(candidates), 0)
        for member in self.members.values():
            votes[next(p.name for p in member.protocols if p.name in candidates)] += 1
        return max(votes, key=votes.__getitem__)


def is_empty(membership: ClassicGroup | ConsumerGroup) -> bool:
    """Whether the group has no members: it may be deleted, and its name given to a group of the other kind."""
    if isinstance(membership, ClassicGroup):
        return membership.state is ClassicState.EMPTY
    return not membership.members


@dataclass(slots=True)
class Group:
    """Everything known of one group id. Without membership the group does not exist (Dead)."""

    group_id: str
    membership: ClassicGroup | ConsumerGroup | None = None
    offsets: dict[str, dict[int, CommittedOffset]] = field(default_factory=dict)
    """Committed offsets by topic name and partition; no empty inner dictionaries."""
    topics: dict[str, Topic] | None = None
    """The cluster's topics by name; None: nobody told, so existence is not checked."""
    clock_ms: int = 0
    """Time of the last event or fired deadline."""
    wake_ms: int = field(default=0, compare=False)
    """No deadline lies before this time; 0: not known. Saves the search for due deadlines at each event."""
    pending: dict[tuple[str, int], dict[int, PendingOffset]] = field(default_factory=dict)
    """Offsets of open transactions by topic, partition and producer id; no empty inner dictionaries."""
    topics_version: int = 0
    """Grows with every change of the cluster's topics that the group is told of."""
    new_topics_version: int = 0
    """The version at which the latest new topics came."""
    configs: dict[str, str] = field(default_factory=dict)
    """What administrators set for this group alone, by Kafka's names; the group need not exist."""
    topics_are_complete: bool = True
    """Whether `topics` are all that the cluster has; else there may be others that nobody told of."""

    @property
    def classic(self) -> ClassicGroup | None:
        """The membership if it is a classic one."""
        membership = self.membership
        return membership if isinstance(membership, ClassicGroup) else None

    @property
    def consumer(self) -> ConsumerGroup | None:
        """The membership if it is a consumer group's."""
        membership = self.membership
        return membership if isinstance(membership, ConsumerGroup) else None

    @property
    def is_forgotten(self) -> bool:
        """Whether nothing is known of it: no membership, no settings, nothing of the cluster's topics."""
        return self.membership is None and self.topics is None and not self.configs

    def store_offset(self, topic: str, partition: int, offset: CommittedOffset) -> None:
        """Put an offset in the place of the one that was there."""
        partitions = self.offsets.get(topic)
        if partitions is None:
            partitions = self.offsets[topic] = {}
        partitions[partition] = offset

    def holds_offset(self, topic: str, partition: int) -> bool:
        """Whether the partition has a committed offset, or one that waits for its transaction."""
        return partition in self.offsets.get(topic, ()) or (topic, partition) in self.pending

    def count_offsets(self) -> int:
        """How many partitions hold an offset; a look at every topic, not at every partition."""
        waiting = sum(p not in self.offsets.get(topic, ()) for topic, p in self.pending)
        return waiting + sum(map(len, self.offsets.values()))

    def topics_by_id(self) -> dict[str, Topic]:
        """The known topics by their ids."""
        return {topic.topic_id: topic for topic in (self.topics or {}).values()}

    def partition_exists(self, topic: str, partition: int) -> bool:
        """Whether a partition exists as far as the group was told."""
        if self.topics is None:
            return True
        known = self.topics.get(topic)
        if known is None:
            return not self.topics_are_complete
        return 0 <= partition < known.num_partitions
