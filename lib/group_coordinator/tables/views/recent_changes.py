"""The changes of the last hours: what the views of now look at, which need not put a year of commits in order."""

from __future__ import annotations

from group_coordinator.tables.views.definition import ViewDefinition
from group_coordinator.tables.views.offset_changes import OFFSET_CHANGES
from group_coordinator.tables.views.positions_now import since

RECENT_HOURS = 6

# A time that is one value leaves out rows before anything is put in order; the clusters' own times are for who reads this.
_TEXT = f"""
WITH recent_log AS (
  SELECT *
  FROM $coordinator_log
  WHERE event_time >= {since(f"INTERVAL '{RECENT_HOURS}' HOUR")}
)
SELECT * FROM ({OFFSET_CHANGES.text.replace("$coordinator_log", "recent_log")}) recent
"""  # noqa: S608 - texts of our own

RECENT_CHANGES = ViewDefinition(
    "recent_changes",
    f"As offset_changes, but only of the {RECENT_HOURS} hours before the newest sample of topic_positions; `before` is null at their "
    "beginning, `by_member` where they have no record of the group, and a transaction that began earlier is left out",
    OFFSET_CHANGES.columns,
    _TEXT,
    "Which commits are the newest?",
    "SELECT group_id, topic, `partition`, `before`, `after`, at FROM recent_changes "
    "WHERE topic = 'orders' ORDER BY at DESC LIMIT 20",
)
