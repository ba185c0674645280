"""Value objects shared by requests, records and groups. All are immutable; absent is None."""

from __future__ import annotations

from group_coordinator.core.value import Value


class CommittedOffset(Value, frozen=True):
    """What a group stored for one partition (OffsetCommitValue in Kafka's log)."""

    offset: int
    leader_epoch: int | None
    metadata: str
    commit_timestamp_ms: int
    expire_timestamp_ms: int | None
    """Set only by OffsetCommit v2-v4 with a retention time; None: the group's rule decides (KIP-211)."""
    topic_id: str | None


class PendingOffset(Value, frozen=True):
    """An offset that waits for the end of its transaction.

    `order` grows with every record of the group's partition; None: a later offset has been committed meanwhile, and
    this one will not replace it (Kafka compares the records' places in the log).
    """

    offset: CommittedOffset
    order: int | None


class Protocol(Value, frozen=True):
    """One entry of a member's JoinGroup list, in order of the member's preference."""

    name: str
    metadata: bytes
    topics: tuple[str, ...] | None
    """Subscribed topics, read as ConsumerProtocol version 0 (KIP-496); None: not readable, or not a consumer."""


class Ticket(Value, frozen=True):
    """Where the answer to a request goes. Parked requests keep theirs in the group's state."""

    event_id: str
    correlation_id: str | None
    version: int


class Timer(Value, frozen=True):
    """A deadline and when it was set: timers of one millisecond fire in the order they were set."""

    due_ms: int
    armed_ms: int


class Topic(Value, frozen=True):
    """What a group knows of one topic of the cluster."""

    name: str
    topic_id: str
    num_partitions: int
    racks: tuple[tuple[str, ...], ...] | None = None
    """The racks of each partition's replicas, sorted; None: nobody told."""


class Member(Value, frozen=True):
    """A member of a classic group; replaced, never changed."""

    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    protocols: tuple[Protocol, ...]
    assignment: bytes = b""
    is_new: bool = False
    """Joined and not yet answered once: such a member cannot heartbeat, so its session may lapse while it waits."""
    awaiting_join: Ticket | None = None
    awaiting_sync: Ticket | None = None

    @property
    def is_waiting(self) -> bool:
        """Whether a request of the member is parked."""
        return self.awaiting_join is not None or self.awaiting_sync is not None

    def protocol(self, name: str | None) -> Protocol | None:
        """The member's own entry for a protocol name, None if it does not list it."""
        return next((protocol for protocol in self.protocols if protocol.name == name), None)
