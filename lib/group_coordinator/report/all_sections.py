"""The sections in the order in which they are read."""

from __future__ import annotations

from group_coordinator.report.sections.changes import CHANGES
from group_coordinator.report.sections.commits import COMMITS
from group_coordinator.report.sections.expiring import EXPIRING
from group_coordinator.report.sections.groups import GROUPS
from group_coordinator.report.sections.lag import LAG
from group_coordinator.report.sections.lost import LOST
from group_coordinator.report.sections.stale import STALE

SECTIONS = (GROUPS, LAG, COMMITS, EXPIRING, LOST, CHANGES, STALE)
