"""Server-side assignors of KIP-848: they distribute partitions to members."""

from __future__ import annotations

from group_coordinator.core.assignors.range import assign_ranges
from group_coordinator.core.assignors.spec import Assignor
from group_coordinator.core.assignors.uniform import assign_uniformly

ASSIGNORS: dict[str, Assignor] = {"uniform": assign_uniformly, "range": assign_ranges}
"""The assignors by name, in order of preference."""
