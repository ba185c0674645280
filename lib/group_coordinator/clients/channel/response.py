"""Responses as they come out of the responses topic, where anybody may have written."""

from __future__ import annotations

import logging

from msgspec import Struct, json

from group_coordinator.clients.channel.request import Body

_log = logging.getLogger(__name__)


class Response(Struct, rename="camel"):
    """The fields of a response that the channel needs."""

    correlation_id: str | None = None
    body: Body = {}


def read(value: bytes) -> Response | None:
    """A response; None: the value is none, which the log says."""
    try:
        return json.decode(value, type=Response)
    except (ValueError, RecursionError):  # the last: nested too deep
        _log.warning("not a response of the coordinator: %r", value[:200])
        return None
