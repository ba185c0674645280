"""Responses as they come out of the responses topic: one's own, and what those of others say of their groups."""

from __future__ import annotations

from typing import NamedTuple

from group_coordinator.clients.channel import channel
from group_coordinator.clients.channel.channel import Body
from group_coordinator.gateway.job.sightings import Sighting, sighted


class Arrival(NamedTuple):
    """A response that is worth a look."""

    correlation_id: str | None
    """None: others asked."""
    body: Body
    """Empty if others asked."""
    sighting: Sighting | None


def read(value: bytes, name: str) -> Arrival | None:
    """A response; correlation ids of one's own begin with `name`. None: it is for others, and says nothing of its group."""
    found = channel.read(value, name)
    if found is None:
        return None
    head, body = found
    try:
        sighting = sighted(head)
    except (ValueError, RecursionError):
        sighting = None  # whoever waits for it learns what is wrong with it
    if body is not None:
        return Arrival(head.correlation_id, body, sighting)
    return None if sighting is None else Arrival(None, {}, sighting)
