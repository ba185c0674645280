"""Tickets of parked requests in a snapshot."""

from __future__ import annotations

from typing import Any

from group_coordinator.core.model.ticket import Ticket


def packed(ticket: Ticket | None) -> Any:
    """A ticket as it is written; its reply partition, if it has one, needs no other SCHEMA_VERSION.

    Earlier versions pass by what comes behind the fields that they know. Without one, the bytes are the same as theirs.
    """
    if ticket is None or ticket.reply_partition is not None:
        return ticket
    return (ticket.event_id, ticket.correlation_id, ticket.version)
