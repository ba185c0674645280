"""A member of a classic group, the protocols that it speaks, and its open request."""

from __future__ import annotations

from group_coordinator.core.embedded_protocol import parse_subscription
from group_coordinator.core.value import Value


class Ticket(Value, frozen=True):
    """Where the answer to a request goes. Parked requests keep theirs in the group's state."""

    event_id: str
    correlation_id: str | None
    version: int
    reply_partition: int | None = None
    """The partition of the responses topic that the client reads; None: the one of the group."""


class Protocol(Value, frozen=True):
    """One entry of a member's JoinGroup list, in order of the member's preference."""

    name: str
    metadata: bytes

    @property
    def topics(self) -> tuple[str, ...] | None:
        """The topics that a consumer subscribes to (KIP-496); None: not readable. Of others the bytes are their own."""
        return parse_subscription(self.metadata)


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
