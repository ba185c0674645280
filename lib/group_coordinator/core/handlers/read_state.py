"""ReadState (our own): a gateway asks for the whole group, to answer the next requests itself. The group stays as it is."""

from __future__ import annotations

from group_coordinator.core.model.changes import Decision
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.requests import ReadState, RequestContext
from group_coordinator.core.model.responses import ReadStateResponse, Reply


def decide(
    group: Group,
    request: ReadState,  # noqa: ARG001 - one signature for all handlers
    context: RequestContext,
    config: CoordinatorConfig,  # noqa: ARG001
) -> Decision:
    """Return the group itself: its host encodes the response before the next event."""
    known = None if group.is_forgotten else group
    return Decision([], [Reply(context.ticket, ReadStateResponse(ErrorCode.NONE, known))])
