"""Tick (our own): an event that only moves the group's clock, as every event does."""

from __future__ import annotations

from group_coordinator.core.model.changes import Decision
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.requests import RequestContext, Tick


def decide(
    group: Group,  # noqa: ARG001 - one signature for all handlers
    request: Tick,  # noqa: ARG001
    context: RequestContext,  # noqa: ARG001
    config: CoordinatorConfig,  # noqa: ARG001
) -> Decision:
    """Return an empty decision: a Tick has no response."""
    return Decision([], [])
