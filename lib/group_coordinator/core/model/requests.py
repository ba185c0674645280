"""The requests of groups, and topic metadata, independent of the API version: codecs resolve the differences of versions."""

from __future__ import annotations

from enum import IntEnum

from group_coordinator.core.acls import Rights
from group_coordinator.core.model.classic_member import Protocol, ReplyAddress
from group_coordinator.core.value import Value


class Topic(Value, frozen=True):
    """A topic of the cluster in a group's topic metadata."""

    name: str
    topic_id: str
    num_partitions: int
    racks: tuple[tuple[str, ...], ...] | None = None
    """The racks of each partition's replicas, sorted; None: unknown."""


# Else a client that repeats a lost JoinGroup would leave members behind for which a rebalance waits.
MEMBER_ID_REQUIRED_SINCE = 4
"""From this JoinGroup on a dynamic member must join again with the id of the first response (KIP-394)."""

SYNC_NAMES_PROTOCOL_SINCE = 5
"""From this SyncGroup on a member must name the elected protocol (KIP-559)."""

# Older clients do not know STALE_MEMBER_EPOCH: members of the consumer protocol get another error.
MEMBER_EPOCHS_SINCE = 9
"""From this OffsetCommit on clients know member epochs (KIP-848)."""

TOPIC_IDS_SINCE = 10
"""From this OffsetCommit and OffsetFetch on topics have ids instead of names (KIP-848)."""

TXN_MEMBER_EPOCHS_SINCE = 6
"""From this TxnOffsetCommit on clients know member epochs (KIP-1319)."""

TXN_TOPIC_IDS_SINCE = 6
"""From this TxnOffsetCommit on topics have ids instead of names (KIP-1319)."""


class RequestContext(Value, frozen=True, kw_only=True):
    """The data of a request outside its body.

    `fresh_id` is the uuid text at the end of a new member id, `fresh_short_id` a whole id as Kafka makes it for consumer
    groups. Both are derived from the event's coordinates, so that a replayed batch makes the same ids.
    """

    now_ms: int
    ticket: ReplyAddress
    client_id: str
    client_host: str
    fresh_id: str
    fresh_short_id: str
    rights: Rights | None = None
    """The rights of the sender; None: no rights are needed."""


class JoinGroup(Value, frozen=True, kw_only=True):
    """JoinGroup 0-9. An empty member id requests a new id."""

    group_id: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    member_id: str
    group_instance_id: str | None
    protocol_type: str
    protocols: tuple[Protocol, ...]


class SyncGroup(Value, frozen=True, kw_only=True):
    """SyncGroup 0-5. Only the leader's assignments count."""

    group_id: str
    generation: int
    member_id: str
    group_instance_id: str | None
    protocol_type: str | None
    protocol: str | None
    assignments: tuple[tuple[str, bytes], ...]
    """Pairs (member id, assignment)."""

    def lacks_protocol(self, version: int) -> bool:
        """Return True if the request lacks the protocol that its version must have."""
        is_silent = self.protocol_type is None or self.protocol is None
        return is_silent and version >= SYNC_NAMES_PROTOCOL_SINCE


class Heartbeat(Value, frozen=True):
    group_id: str
    generation: int
    member_id: str
    group_instance_id: str | None


# An administrator names a static member by its instance id, as its member id changes with every restart.
class LeavingMember(Value, frozen=True):
    """A leaving member. An empty member id with an instance id is an administrator's removal."""

    member_id: str
    group_instance_id: str | None


class LeaveGroup(Value, frozen=True):
    """LeaveGroup 0-5. Versions 0-2 have one member."""

    group_id: str
    members: tuple[LeavingMember, ...]


class PartitionCommit(Value, frozen=True):
    partition: int
    offset: int
    leader_epoch: int | None
    metadata: str | None
    commit_timestamp_ms: int | None
    """OffsetCommit 1 only: the client's own commit time; None: the coordinator's time."""


class TopicCommit(Value, frozen=True):
    """A topic of an OffsetCommit or a TxnOffsetCommit: by name in old versions, by id in new versions."""

    name: str | None
    topic_id: str | None
    partitions: tuple[PartitionCommit, ...]


class OffsetCommit(Value, frozen=True, kw_only=True):
    """OffsetCommit 1-10. Generation None (-1 on the wire): an administrator or a simple consumer."""

    group_id: str
    generation: int | None
    member_id: str
    group_instance_id: str | None
    retention_time_ms: int | None
    topics: tuple[TopicCommit, ...]
    is_reset: bool = False
    """True for an administrator's reset. It only changes the reason of the records. Our own."""
    is_restore: bool = False
    """True for an administrator who restores earlier offsets. It too only changes the reason."""


class TxnOffsetCommit(Value, frozen=True, kw_only=True):
    """TxnOffsetCommit 0-6: the offsets count once the producer's transaction is committed; without producer, at once."""

    group_id: str
    producer_id: int | None
    generation: int | None
    member_id: str
    group_instance_id: str | None
    topics: tuple[TopicCommit, ...]
    producer_epoch: int | None = None
    """-1 for a producer without epoch; None: unknown."""
    markers_end_offset: int | None = None
    """The end of the __consumer_offsets partition with the group's markers at the time of the request; None: unknown."""
    transactional_id: str = ""


class EndTxn(Value, frozen=True, kw_only=True):
    """A system event: the marker that a transaction coordinator writes to the group's log."""

    group_id: str
    producer_id: int
    is_commit: bool
    producer_epoch: int | None = None
    marker_offset: int | None = None
    """The offset of the marker in that partition; None: unknown."""
    since_offset: int | None = None
    """The marker is the producer's first from this offset on; None: unknown."""


class TopicPartitions(Value, frozen=True):
    """Partitions of a topic, by name or by id (OffsetFetch from version 10)."""

    name: str | None
    topic_id: str | None
    partitions: tuple[int, ...]


class OffsetFetch(Value, frozen=True):
    """OffsetFetch 1-10 of a group; topics None requests all."""

    group_id: str
    member_id: str | None
    member_epoch: int | None
    topics: tuple[TopicPartitions, ...] | None
    require_stable: bool


class OffsetDelete(Value, frozen=True):
    group_id: str
    topics: tuple[TopicPartitions, ...]


class DeleteGroup(Value, frozen=True):
    """DeleteGroups 0-3 (KIP-229) of a group."""

    group_id: str


class DescribeGroup(Value, frozen=True):
    """DescribeGroups 0-6 of a group."""

    group_id: str
    asks_for_operations: bool = False


class ConsumerGroupHeartbeat(Value, frozen=True, kw_only=True):
    """ConsumerGroupHeartbeat 0-1 (KIP-848). None: unchanged since the member's request before."""

    group_id: str
    member_id: str
    member_epoch: int
    """0: join; more: heartbeat; -1: leave; -2: a static member leaves and will join again."""
    group_instance_id: str | None
    rack_id: str | None
    rebalance_timeout_ms: int | None
    topic_names: tuple[str, ...] | None
    topic_regex: str | None
    server_assignor: str | None
    owned: tuple[TopicPartitions, ...] | None
    """The partitions that the member owns, by topic id."""
    known_topics: tuple[Topic, ...] = ()
    """Our own: subscribed topics of the member, as the forwarder of the request saw them in the cluster."""


class ConsumerGroupDescribe(Value, frozen=True):
    """ConsumerGroupDescribe 0-1 of a group."""

    group_id: str
    asks_for_operations: bool = False


class DescribeConfigs(Value, frozen=True):
    """DescribeConfigs 1-4 of a group; without names all configurations are requested."""

    group_id: str
    names: tuple[str, ...]
    wants_synonyms: bool
    wants_documentation: bool


class ConfigOperation(IntEnum):
    """Kafka's operations on a configuration, with Kafka's numbers."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


class ConfigChange(Value, frozen=True):
    """A change of a configuration. The operation may be a number unknown to Kafka."""

    name: str
    operation: int
    value: str | None


class AlterConfigs(Value, frozen=True):
    """IncrementalAlterConfigs 0-1 of a group."""

    group_id: str
    changes: tuple[ConfigChange, ...]
    validates_only: bool


class TopicMetadata(Value, frozen=True):
    """A system event: topic metadata of the cluster for this group."""

    group_id: str
    topics: tuple[Topic, ...]
    deleted_topics: tuple[tuple[str, str], ...]
    """Pairs (name, topic id)."""
    version: int | None = None
    """The version of the cluster's metadata; None: the group's version plus one."""
    is_complete: bool = True
    """True: these are all topics of the cluster. False: other topics may exist."""


class Tick(Value, frozen=True):
    """A system event that moves the clock."""

    group_id: str


class ReadState(Value, frozen=True):
    """A system event by which a gateway asks for the whole group."""

    group_id: str
    known_basis_id: str = ""
    """The id of the basis that the gateway has (runtime/basis.py)."""


Request = (
    JoinGroup
    | SyncGroup
    | Heartbeat
    | LeaveGroup
    | OffsetCommit
    | TxnOffsetCommit
    | EndTxn
    | OffsetFetch
    | OffsetDelete
    | DeleteGroup
    | DescribeGroup
    | ConsumerGroupHeartbeat
    | ConsumerGroupDescribe
    | DescribeConfigs
    | AlterConfigs
    | TopicMetadata
    | Tick
    | ReadState
)
