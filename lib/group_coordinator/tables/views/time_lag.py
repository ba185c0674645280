"""How long groups are behind."""

from __future__ import annotations

from group_coordinator.tables.views.definition import (
    CLUSTER_ID,
    GROUP_ID,
    PARTITION,
    TOPIC,
    ViewDefinition,
    optional,
)
from group_coordinator.tables.views.position_steps import (
    MOMENT,
    how_it_is_known,
    large,
    micros,
    position_steps,
    reached,
    seconds_behind,
    small,
)
from group_coordinator.tables.views.positions_now import NEWEST_SAMPLES

LAG_SECONDS = optional(
    "lag_seconds",
    "double",
    "From when the end of the log was at the committed offset until the sample; 0: everything was read; null: nothing was "
    "committed, or the end is not known",
)
HOW = optional(
    "how",
    "string",
    "exact: a sample had that end, or everything was read; interpolated between two samples; at-least: the oldest sample of this log has a "
    "later end already. Null: as lag_seconds",
)
CERTAIN_SECONDS = optional(
    "certain_seconds",
    "double",
    "The same from the first sample with a later end on: so long at least, however far samples are apart; null: as lag_seconds",
)

_NEAR = "INTERVAL '6' HOUR"
"""SQL for how long before the newest sample a partition is looked for first. Where one sample an hour stayed there are some, too."""

_SINCE = f"(SELECT min(sampled_at) - {_NEAR} FROM ({NEWEST_SAMPLES}) newest_of_clusters)"

_EVER = "TIMESTAMP '1970-01-01 00:00:00'"

_IN_TIME = (
    "PARTITION BY samples.cluster_id, samples.topic, samples.`partition` "
    "ORDER BY samples.sampled_at, samples.log_end_offset"
)


def _last_reached(lowest: str, since: str) -> str:
    """SQL for when a partition's end was last at its lowest offset or before it: `reached_at`; null: at no sample since then."""
    return f"""
  SELECT cluster_id, topic, `partition`, lowest_offset,
    max(CASE WHEN log_end_offset <= lowest_offset AND sampled_at > {since} + {MOMENT} THEN sampled_at END) AS reached_at
  FROM (
    SELECT {small(lowest)} samples.cluster_id, samples.topic, samples.`partition`, {lowest}.lowest_offset, samples.sampled_at,
      {reached("samples.log_end_offset", "samples.sampled_at", _IN_TIME)} AS log_end_offset
    FROM $topic_positions samples
    JOIN {lowest}
      ON {lowest}.cluster_id = samples.cluster_id AND {lowest}.topic = samples.topic
      AND {lowest}.`partition` = samples.`partition`
    WHERE samples.sampled_at >= {since}
  ) ends
  GROUP BY cluster_id, topic, `partition`, lowest_offset"""


# What was sampled before the end was at the lowest committed offset says nothing about any group: only the rest is
# sorted. Nearly every group was at an end of the last hours: the year is searched for the others alone. A partition that has
# no sample of these hours has no lag. The steps of the newest log have every offset below its end once, but for those that
# did not grow.
TIMED_LAG = f"""
WITH lowest AS (
  SELECT cluster_id, topic, `partition`, min(committed_offset) AS lowest_offset
  FROM $offsets
  GROUP BY cluster_id, topic, `partition`
),
near AS (
  {_last_reached("lowest", _SINCE)}
),
far AS (
  SELECT cluster_id, topic, `partition`, lowest_offset FROM near WHERE reached_at IS NULL
),
since AS (
  SELECT cluster_id, topic, `partition`, reached_at - {MOMENT} AS sampled_at FROM near WHERE reached_at IS NOT NULL
  UNION ALL
  SELECT cluster_id, topic, `partition`, reached_at - {MOMENT} FROM ({_last_reached("far", _EVER)}) searched
),
wanted AS (
  SELECT {small("since")} samples.*
  FROM $topic_positions samples
  JOIN since
    ON since.cluster_id = samples.cluster_id AND since.topic = samples.topic
    AND since.`partition` = samples.`partition`
    AND (since.sampled_at IS NULL OR samples.sampled_at >= since.sampled_at)
),
steps AS (
  SELECT cluster_id, topic, `partition`, from_offset, log_end_offset AS to_offset, from_at, sampled_at AS step_at
  FROM (
    SELECT steps.*,
      max(CASE WHEN begins THEN sampled_at END) OVER (PARTITION BY cluster_id, topic, `partition`) AS began_at
    FROM ({position_steps("wanted")}) steps
  ) grown
  WHERE sampled_at >= began_at AND (from_offset IS NULL OR log_end_offset > from_offset)
)
SELECT {large("steps")} own.cluster_id, own.group_id, own.topic, own.`partition`, own.committed_offset, own.lag, own.sampled_at,
  CASE WHEN own.lag = 0 THEN CAST(0 AS DOUBLE) WHEN own.lag > 0 THEN {seconds_behind("own.committed_offset", "own.sampled_at")}
  END AS lag_seconds,
  CASE WHEN own.lag = 0 THEN 'exact' WHEN own.lag > 0 THEN {how_it_is_known("own.committed_offset")}
  END AS how,
  CASE WHEN own.lag = 0 THEN CAST(0 AS DOUBLE)
    WHEN own.lag > 0 THEN CAST({micros("own.sampled_at")} - {micros("step_at")} AS DOUBLE) / 1000000
  END AS certain_seconds
FROM $lag own
LEFT JOIN steps
  ON steps.cluster_id = own.cluster_id AND steps.topic = own.topic AND steps.`partition` = own.`partition`
  AND own.lag > 0 AND own.committed_offset < steps.to_offset
  AND (steps.from_offset IS NULL OR own.committed_offset >= steps.from_offset)
"""
"""The rows of time_lag, with those columns of lag that the status is made of: lag need not be worked out twice."""

_TEXT = f"""
SELECT cluster_id, group_id, topic, `partition`, lag_seconds, how, certain_seconds FROM ({TIMED_LAG}) timed
"""

TIME_LAG = ViewDefinition(
    "time_lag",
    "One row per row of lag: for how long there has been something that the group has not read",
    (CLUSTER_ID, GROUP_ID, TOPIC, PARTITION, LAG_SECONDS, HOW, CERTAIN_SECONDS),
    _TEXT,
    "Which groups are more than five minutes behind?",
    "SELECT cluster_id, group_id, topic, max(lag_seconds) AS seconds_behind FROM time_lag "
    "WHERE lag_seconds > 300 GROUP BY cluster_id, group_id, topic ORDER BY seconds_behind DESC",
)
