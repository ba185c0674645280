"""New member ids are not random: the same event gives the same id, however often a batch is done again."""

from __future__ import annotations

from uuid import NAMESPACE_OID, uuid5


def fresh_id(event_id: str) -> str:
    """The uuid text (version 5) at the end of a member id that this event makes."""
    return str(uuid5(NAMESPACE_OID, event_id))
