"""A member of a classic group, its protocols, and the reply address of a pending request."""

from __future__ import annotations

from group_coordinator.core.embedded_protocol import parse_subscription
from group_coordinator.core.value import Value


class Ticket(Value, frozen=True):
    """The reply address of a request. Pending requests keep theirs in the group state."""

    event_id: str
    correlation_id: str | None
    version: int
    reply_partition: int | None = None
    """The partition of the responses topic that the client reads; None: the group's partition."""


class Protocol(Value, frozen=True):
    """An entry of a member's protocol list in JoinGroup. The list has the member's order of preference."""

    name: str
    metadata: bytes

    @property
    def topics(self) -> tuple[str, ...] | None:
        """The topics that a consumer subscribes to (KIP-496); None: unreadable. Other clients have bytes of their own."""
        return parse_subscription(self.metadata)


class ClassicMember(Value, frozen=True, kw_only=True):
    """A member of a classic group. It is replaced, never changed."""

    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    protocols: tuple[Protocol, ...]
    assignment: bytes = b""
    is_new: bool = False
    """True until the first response to its JoinGroup: such a member cannot send heartbeats, so its session may end in the meantime."""
    awaiting_join: Ticket | None = None
    awaiting_sync: Ticket | None = None

    @property
    def is_waiting(self) -> bool:
        """True: a request of the member is pending."""
        return self.awaiting_join is not None or self.awaiting_sync is not None

    def protocol(self, name: str | None) -> Protocol | None:
        """Return the member's own entry for a protocol name; None if it does not list the name."""
        return next((protocol for protocol in self.protocols if protocol.name == name), None)
