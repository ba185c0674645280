"""Whether an answer is an error of the whole."""

from __future__ import annotations

from group_coordinator.clients.channel.request import Body
from group_coordinator.clients.errors import CoordinatorResponseError, error_for


def refusal(body: Body) -> CoordinatorResponseError | None:
    """The error of a whole answer; the answer to an unreadable event has no other field."""
    code = body.get("errorCode", 0)
    return error_for(code, body.get("errorMessage")) if code else None


def raise_refusal(body: Body) -> None:
    """Raise the error of a whole answer, if it has one."""
    error = refusal(body)
    if error is not None:
        raise error
