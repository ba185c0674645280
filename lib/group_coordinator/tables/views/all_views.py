"""All views, and the views that a query reads."""

from __future__ import annotations

import re

from group_coordinator.tables.views.at_risk import AT_RISK
from group_coordinator.tables.views.audit import AUDIT
from group_coordinator.tables.views.cluster_differences import CLUSTER_DIFFERENCES
from group_coordinator.tables.views.commit_rate import COMMIT_RATE
from group_coordinator.tables.views.expiring_soon import EXPIRING_SOON
from group_coordinator.tables.views.group_status import GROUP_STATUS
from group_coordinator.tables.views.group_timeline import GROUP_TIMELINE
from group_coordinator.tables.views.labels import GROUP_OWNERS, LABELS, NO_LABELS
from group_coordinator.tables.views.lag import LAG_NOW
from group_coordinator.tables.views.lag_history import LAG_HISTORY
from group_coordinator.tables.views.lost_offsets import LOST_OFFSETS
from group_coordinator.tables.views.objectives import OBJECTIVES
from group_coordinator.tables.views.offset_changes import OFFSET_CHANGES, RECENT_CHANGES
from group_coordinator.tables.views.partition_status import PARTITION_STATUS
from group_coordinator.tables.views.readiness import READINESS
from group_coordinator.tables.views.rebalances import REBALANCES
from group_coordinator.tables.views.share_offsets import NO_SHARE_OFFSETS, SHARE_OFFSETS
from group_coordinator.tables.views.stale_topics import STALE_TOPICS
from group_coordinator.tables.views.time_lag import TIME_LAG
from group_coordinator.tables.views.topic_groups import TOPIC_GROUPS

VIEWS = (
    *(EXPIRING_SOON, OFFSET_CHANGES, RECENT_CHANGES, LOST_OFFSETS, AUDIT),
    *(GROUP_TIMELINE, REBALANCES, COMMIT_RATE, TOPIC_GROUPS, READINESS, CLUSTER_DIFFERENCES),
    *(LAG_NOW, TIME_LAG, LAG_HISTORY, AT_RISK, PARTITION_STATUS, GROUP_STATUS),
    *(STALE_TOPICS, GROUP_OWNERS, OBJECTIVES),
)
"""In order: each after the views that it reads."""

IN_PLACE_OF_LATER_TABLES = {LABELS: NO_LABELS, SHARE_OFFSETS: NO_SHARE_OFFSETS}
"""Sources without rows, where a table is missing that versions before 0.4.0 do not have."""

_ABOUT_ALL = frozenset({"show", "information_schema"})


def named_in(sql: str) -> frozenset[str]:
    """Return the tables and views that a query may read, with their sources, and other words; all if it lists tables or views."""
    named = set(re.findall(r"\w+", sql.lower()))
    if not _ABOUT_ALL.isdisjoint(named):
        named |= {view.name for view in VIEWS}
    # In reverse order: a view's sources come before it, and may be views themselves.
    for view in reversed(VIEWS):
        if view.name in named:
            named |= view.sources
    return frozenset(named)
