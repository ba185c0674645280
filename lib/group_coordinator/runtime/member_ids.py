"""New member ids are not random: the same event gives the same id, however often a batch is done again."""

from __future__ import annotations

from collections.abc import Callable
from uuid import NAMESPACE_OID, UUID, uuid5

from group_coordinator.binary.uuids import uuid_text


def fresh_id(event_id: str) -> str:
    """The uuid text (version 5) at the end of a member id that this event makes."""
    return str(uuid5(NAMESPACE_OID, event_id))


def short_id(event_id: str, new_id: Callable[[str], str] = fresh_id) -> str:
    """The 22 characters of a member id of a consumer group, as Kafka's Uuid prints them.

    One with a dash is drawn again, as in Uuid.randomUuid since Kafka 4.4; the second draw is of "EVENT ID-2".
    """
    text, draws = uuid_text(UUID(new_id(event_id)).bytes), 1
    while "-" in text:
        draws += 1
        text = uuid_text(UUID(new_id(f"{event_id}-{draws}")).bytes)
    return text
