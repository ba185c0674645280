"""Server-side assignors: who gets which partition (KIP-848)."""

from __future__ import annotations

from group_coordinator.core.assignors.spec import Assignor

ASSIGNORS: dict[str, Assignor] = {}
"""The assignors by their names, in the order of preference."""
