"""A public state machine of a group, with a clock that the caller moves: for tests and experiments."""

from __future__ import annotations

from group_coordinator.core.model.requests import Topic
from group_coordinator.testing.driver import GroupDriver
from group_coordinator.testing.outcome import NotAnsweredError, Outcome

__all__ = ["GroupDriver", "NotAnsweredError", "Outcome", "Topic"]
