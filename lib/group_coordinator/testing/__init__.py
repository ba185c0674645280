"""The state machine with a clock that is moved by hand: for tests, and for finding out what a group would do."""

from __future__ import annotations

from group_coordinator.testing.driver import GroupDriver, NotAnsweredError, Outcome

__all__ = ["GroupDriver", "NotAnsweredError", "Outcome"]
