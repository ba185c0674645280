"""The view objectives: the part of each day in which a group's lag in time was within its objective."""

from __future__ import annotations

from group_coordinator.tables.views.definition import (
    CLUSTER_ID,
    GROUP_ID,
    ViewDefinition,
    floor_of,
    required,
)
from group_coordinator.tables.views.labels import LABEL_COLUMNS, labelled
from group_coordinator.tables.views.lag_history import LAG_HISTORY
from group_coordinator.tables.views.offset_changes import OFFSET_CHANGES
from group_coordinator.tables.views.position_steps import micros

_MINUTE, _HOUR, _DAY = 60_000_000, 3_600_000_000, 86_400_000_000

_OF_LOG = OFFSET_CHANGES.text.replace("$coordinator_log", "wanted_log")
_HISTORY = LAG_HISTORY.text.replace("$coordinator_log", "wanted_log").replace(
    "$offset_changes", "wanted_changes"
)
_READERS = """SELECT cluster_id, group_id FROM $coordinator_log WHERE record_type IN (0, 1)
    UNION SELECT cluster_id, group_id FROM $share_group_offsets"""

_IS_MET = """CASE WHEN worst_seconds > objective_seconds THEN 0
    WHEN known_seconds IS NOT NULL THEN 1 END"""

# The log is restricted to groups with an objective before all else: the history of all groups is the cost of this view. Minutes and days
# are computed from microseconds, as date_trunc depends on the time zone of Spark's session. In DataFusion $instant has no time zone, and
# the argument behind it, which never counts, gives it one.
_TEXT = f"""
WITH wanted AS (
  SELECT cluster_id, group_id, owner, tier, objective_seconds
  FROM ({labelled(_READERS)}) readers
  WHERE objective_seconds IS NOT NULL
),
wanted_log AS (
  SELECT own.* FROM $coordinator_log own
  LEFT SEMI JOIN wanted ON wanted.cluster_id = own.cluster_id AND wanted.group_id = own.group_id
),
wanted_changes AS ({_OF_LOG}),
minutes AS (
  SELECT cluster_id, group_id, at_minute, min(sampled_at) AS first_at, max(lag_seconds) AS worst_seconds,
    max(CASE WHEN how <> 'at-least' THEN lag_seconds END) AS known_seconds
  FROM (
    SELECT lags.*, {floor_of(micros("sampled_at"), _MINUTE)} AS at_minute FROM ({_HISTORY}) lags
  ) timed
  GROUP BY cluster_id, group_id, at_minute
),
judged AS (
  SELECT wanted.*, {floor_of("at_minute", _DAY)} AS at_day, {floor_of("at_minute", _HOUR)} AS at_hour,
    first_at, worst_seconds, {_IS_MET} AS is_met
  FROM minutes own
  JOIN wanted ON wanted.cluster_id = own.cluster_id AND wanted.group_id = own.group_id
)
SELECT cluster_id, group_id, owner, coalesce($instant(at_day), min(first_at)) AS `day`, objective_seconds,
  avg(CAST(is_met AS DOUBLE)) AS met, tier, count(DISTINCT at_hour) AS sampled_hours, max(worst_seconds) AS worst_seconds
FROM judged
WHERE is_met IS NOT NULL
GROUP BY cluster_id, group_id, owner, at_day, objective_seconds, tier
"""  # noqa: S608 - texts of our own

_OWNER, _TIER, _ = LABEL_COLUMNS

OBJECTIVES = ViewDefinition(
    name="objectives",
    meaning="A row for each day and group with an objective, if a lag in time of that day is known; the labels are the present ones, and a "
    "condition on group_id keeps it quick",
    columns=(
        *(CLUSTER_ID, GROUP_ID, _OWNER),
        required("day", "timestamp", "The beginning of the day, in UTC"),
        required("objective_seconds", "int", "As in group_labels"),
        required(
            "met",
            "double",
            "The share of the day's sampled minutes in which no partition was later than the objective, 0 to 1; minutes without a known lag "
            "do not count",
        ),
        _TIER,
        required("sampled_hours", "bigint", "Hours of the day with such a minute, 1 to 24"),
        required("worst_seconds", "double", "The longest lag in time of these minutes"),
    ),
    text=_TEXT,
    answers="In which part of a day was a group within its objective?",
    example="SELECT `day`, owner, objective_seconds, met, worst_seconds FROM objectives "
    "WHERE group_id = 'billing' ORDER BY `day` DESC LIMIT 31",
)
