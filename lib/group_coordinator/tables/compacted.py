"""The tables that follow from the log."""

from __future__ import annotations

from group_coordinator.tables.groups import GROUPS
from group_coordinator.tables.members import MEMBERS
from group_coordinator.tables.offsets import OFFSETS

# Groups last: whoever sees a group's new row finds its members and offsets.
COMPACTED = (MEMBERS, OFFSETS, GROUPS)
