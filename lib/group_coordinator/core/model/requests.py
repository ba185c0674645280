"""The requests that groups understand, as the handlers see them: version differences end at the codec."""

from __future__ import annotations

from enum import IntEnum

from group_coordinator.core.acls.rights import Rights
from group_coordinator.core.model.classic_member import Protocol, Ticket
from group_coordinator.core.model.topic import Topic
from group_coordinator.core.value import Value

MEMBER_ID_REQUIRED_SINCE = 4
"""From this JoinGroup on a dynamic member must come back with the id that it is given (KIP-394)."""

SYNC_NAMES_PROTOCOL_SINCE = 5
"""From this SyncGroup on a member must say which protocol was chosen (KIP-559)."""

MEMBER_EPOCHS_SINCE = 9
"""From this OffsetCommit on clients know member epochs (KIP-848)."""

TOPIC_IDS_SINCE = 10
"""From this OffsetCommit and OffsetFetch on topics go by their ids (KIP-848)."""

TXN_MEMBER_EPOCHS_SINCE = 6
"""From this TxnOffsetCommit on clients know member epochs (KIP-1319)."""

TXN_TOPIC_IDS_SINCE = 6
"""From this TxnOffsetCommit on topics go by their ids (KIP-1319)."""


class RequestContext(Value, frozen=True):
    """Everything about a request that is not its body.

    `fresh_id` is the uuid text that a new member id ends in, `fresh_short_id` a whole one as Kafka gives it out in consumer
    groups. Both are derived from the event's coordinates, so that a replayed batch gives the same ids.
    """

    now_ms: int
    ticket: Ticket
    client_id: str
    client_host: str
    fresh_id: str
    fresh_short_id: str
    rights: Rights | None = None
    """Of the sender; None: nobody needs any."""


class JoinGroup(Value, frozen=True):
    """JoinGroup 0-9. An empty member id asks for a new one."""

    group_id: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    member_id: str
    group_instance_id: str | None
    protocol_type: str
    protocols: tuple[Protocol, ...]


class SyncGroup(Value, frozen=True):
    """SyncGroup 0-5; only the leader's assignments count."""

    group_id: str
    generation: int
    member_id: str
    group_instance_id: str | None
    protocol_type: str | None
    protocol: str | None
    assignments: tuple[tuple[str, bytes], ...]
    """Pairs (member id, assignment)."""

    def lacks_protocol(self, version: int) -> bool:
        """Whether it leaves out what its version must say."""
        is_silent = self.protocol_type is None or self.protocol is None
        return is_silent and version >= SYNC_NAMES_PROTOCOL_SINCE


class Heartbeat(Value, frozen=True):
    """Heartbeat 0-4."""

    group_id: str
    generation: int
    member_id: str
    group_instance_id: str | None


class MemberIdentity(Value, frozen=True):
    """Who leaves: an empty member id with an instance id is an administrator's removal."""

    member_id: str
    group_instance_id: str | None


class LeaveGroup(Value, frozen=True):
    """LeaveGroup 0-5; versions 0-2 carry one member."""

    group_id: str
    members: tuple[MemberIdentity, ...]


class PartitionCommit(Value, frozen=True):
    """One partition of an OffsetCommit or a TxnOffsetCommit."""

    partition: int
    offset: int
    leader_epoch: int | None
    metadata: str | None
    commit_timestamp_ms: int | None
    """OffsetCommit 1 only: the client's own commit time, None for the coordinator's."""


class TopicCommit(Value, frozen=True):
    """One topic of an OffsetCommit or a TxnOffsetCommit: by name in old versions, by id in new ones."""

    name: str | None
    topic_id: str | None
    partitions: tuple[PartitionCommit, ...]


class OffsetCommit(Value, frozen=True):
    """OffsetCommit 1-10. Generation None (-1 on the wire): an administrator or a simple consumer."""

    group_id: str
    generation: int | None
    member_id: str
    group_instance_id: str | None
    retention_time_ms: int | None
    topics: tuple[TopicCommit, ...]
    is_reset: bool = False
    """An administrator sets offsets on purpose; it decides nothing but the reason of the records. Ours."""


class TxnOffsetCommit(Value, frozen=True):
    """TxnOffsetCommit 0-6: the offsets count when the producer's transaction is committed; without producer, at once."""

    group_id: str
    producer_id: int | None
    generation: int | None
    member_id: str
    group_instance_id: str | None
    topics: tuple[TopicCommit, ...]
    producer_epoch: int | None = None
    """-1 where the producer has none; None: not said."""
    markers_end_offset: int | None = None
    """Where the partition of __consumer_offsets that gets the group's markers ended when the request came; None: not said."""
    transactional_id: str = ""


class EndTxn(Value, frozen=True):
    """A system event: the marker that a transaction coordinator writes into the group's log."""

    group_id: str
    producer_id: int
    is_commit: bool
    producer_epoch: int | None = None
    marker_offset: int | None = None
    """Where the marker is in that partition; None: not said."""
    since_offset: int | None = None
    """From there on it is the first marker of the producer; None: not said."""


class TopicPartitions(Value, frozen=True):
    """Partitions of one topic, named or by id (OffsetFetch from version 10)."""

    name: str | None
    topic_id: str | None
    partitions: tuple[int, ...]


class OffsetFetch(Value, frozen=True):
    """OffsetFetch 1-10 of one group; topics None asks for all."""

    group_id: str
    member_id: str | None
    member_epoch: int | None
    topics: tuple[TopicPartitions, ...] | None
    require_stable: bool


class OffsetDelete(Value, frozen=True):
    """OffsetDelete 0 (KIP-496)."""

    group_id: str
    topics: tuple[TopicPartitions, ...]


class DeleteGroup(Value, frozen=True):
    """DeleteGroups 0-3 (KIP-229) of one group."""

    group_id: str


class DescribeGroup(Value, frozen=True):
    """DescribeGroups 0-6 of one group."""

    group_id: str
    asks_for_operations: bool = False


class ConsumerGroupHeartbeat(Value, frozen=True):
    """ConsumerGroupHeartbeat 0-1 (KIP-848). None: as in the member's request before."""

    group_id: str
    member_id: str
    member_epoch: int
    """0: join; more: heartbeat; -1: leave; -2: a static member leaves and will come back."""
    group_instance_id: str | None
    rack_id: str | None
    rebalance_timeout_ms: int | None
    topic_names: tuple[str, ...] | None
    topic_regex: str | None
    server_assignor: str | None
    owned: tuple[TopicPartitions, ...] | None
    """What the member has; by topic id."""
    known_topics: tuple[Topic, ...] = ()
    """Ours: topics that it subscribes to, as whoever passes the request on saw them in the cluster."""


class ConsumerGroupDescribe(Value, frozen=True):
    """ConsumerGroupDescribe 0-1 of one group."""

    group_id: str
    asks_for_operations: bool = False


class DescribeConfigs(Value, frozen=True):
    """DescribeConfigs 1-4 of one group; without names all its settings are asked for."""

    group_id: str
    names: tuple[str, ...]
    wants_synonyms: bool
    wants_documentation: bool


class ConfigOperation(IntEnum):
    """What to do with a setting; the numbers are Kafka's."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


class ConfigChange(Value, frozen=True):
    """A change of one setting; the operation may be a number that Kafka does not know."""

    name: str
    operation: int
    value: str | None


class AlterConfigs(Value, frozen=True):
    """IncrementalAlterConfigs 0-1 of one group."""

    group_id: str
    changes: tuple[ConfigChange, ...]
    validates_only: bool


class TopicMetadata(Value, frozen=True):
    """A system event: what this group may know of the cluster's topics from now on."""

    group_id: str
    topics: tuple[Topic, ...]
    deleted_topics: tuple[tuple[str, str], ...]
    """Pairs (name, topic id)."""
    version: int | None = None
    """Of the cluster's metadata; None: one more than the group knew."""
    is_complete: bool = True
    """Whether these are all topics of the cluster; else the group must not conclude that others do not exist."""


class Tick(Value, frozen=True):
    """A system event: time passes."""

    group_id: str


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
)
