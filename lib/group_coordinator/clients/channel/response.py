"""Responses as they come out of the responses topic, where anybody may have written."""

from __future__ import annotations

import logging

from msgspec import Raw, Struct, json

from group_coordinator.clients.channel.request import Body

_log = logging.getLogger(__name__)


class Response(Struct, rename="camel", gc=False):
    """A response as the job writes it."""

    api: str | None = None
    group_id: str = ""
    at: int = 0
    correlation_id: str | None = None
    body: Raw = Raw(b"{}")


def read(value: bytes, name: str) -> tuple[Response, Body | None] | None:
    """A response, and its body if its correlation id begins with `name`; None: the value is no response, which the log says."""
    try:
        response = json.decode(value, type=Response)
        is_ours = (response.correlation_id or "").startswith(name)
        return response, json.decode(response.body, type=Body) if is_ours else None
    except (ValueError, RecursionError):  # the last: nested too deep
        _log.warning("not a response of the coordinator: %r", value[:200])
        return None
