"""New member ids without chance: the same event gives the same id, however often a batch is done again."""

from __future__ import annotations

from uuid import NAMESPACE_OID, uuid5


def fresh_id(event_id: str) -> str:
    """The uuid text that a member id made by this event ends in (version 5 of its coordinates)."""
    return str(uuid5(NAMESPACE_OID, event_id))
