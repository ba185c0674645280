"""Responses as they come out of the responses topic: one's own, and what those of others say of their groups."""

from __future__ import annotations

import logging
from typing import NamedTuple

from msgspec import DecodeError, json

from group_coordinator.gateway.job.questions import Body
from group_coordinator.gateway.job.sightings import Response, Sighting, sighted

_UNREADABLE = (DecodeError, UnicodeDecodeError, RecursionError)
"""What msgspec says of bytes that are no JSON, or are nested too deep: anybody may have written them."""

_log = logging.getLogger(__name__)


class Arrival(NamedTuple):
    """A response that is worth a look."""

    correlation_id: str | None
    """None: others asked."""
    body: Body
    """Empty if others asked."""
    sighting: Sighting | None


def read(value: bytes, name: str) -> Arrival | None:
    """A response; correlation ids of one's own begin with `name`. None: it is for others, and says nothing of its group."""
    try:
        response = json.decode(value, type=Response)
        if (response.correlation_id or "").startswith(name):
            body = json.decode(response.body, type=Body)
            return Arrival(response.correlation_id, body, _sighted(response))
    except _UNREADABLE:
        _log.warning("not a response of the coordinator: %r", value[:200])
        return None
    sighting = _sighted(response)
    return None if sighting is None else Arrival(None, {}, sighting)


def _sighted(response: Response) -> Sighting | None:
    try:
        return sighted(response)
    except _UNREADABLE:
        # Who waits for it hears what is wrong with it.
        return None
