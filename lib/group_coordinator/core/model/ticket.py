"""The way back to the one who asked."""

from __future__ import annotations

from group_coordinator.core.value import Value


class Ticket(Value, frozen=True):
    """Where the answer to a request goes. Parked requests keep theirs in the group's state."""

    event_id: str
    correlation_id: str | None
    version: int
    reply_partition: int | None = None
    """The partition of the responses topic that the client reads; None: the one of the group."""
