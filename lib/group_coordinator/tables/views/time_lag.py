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
    how_it_is_known,
    large,
    micros,
    position_steps,
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

_BEFORE = "INTERVAL '2' HOUR"
"""SQL for a time in which there is an earlier sample, also where only the first one of each hour stayed."""

_DAY_BEFORE = (
    f"(SELECT min(sampled_at) - INTERVAL '1' DAY FROM ({NEWEST_SAMPLES}) newest_of_clusters)"
)


def _last_reached(lowest: str, condition: str) -> str:
    """SQL for when a partition's end was last sampled at its lowest offset or before it: `reached_at`; null: it was not."""
    return f"""
  SELECT {small(lowest)} samples.cluster_id, samples.topic, samples.`partition`, {lowest}.lowest_offset,
    max(CASE WHEN samples.log_end_offset <= {lowest}.lowest_offset THEN samples.sampled_at END) AS reached_at
  FROM $topic_positions samples
  JOIN {lowest}
    ON {lowest}.cluster_id = samples.cluster_id AND {lowest}.topic = samples.topic
    AND {lowest}.`partition` = samples.`partition`
  WHERE {condition}
  GROUP BY samples.cluster_id, samples.topic, samples.`partition`, {lowest}.lowest_offset"""


# What was sampled before the end was at the lowest committed offset says nothing about any group: only the rest is
# sorted. Nearly every group was at an end of the last day: the year is searched for the others alone. A partition that has no
# sample of that day has no lag. The last sample with such an end may be the later one of a moment, whose other one is beyond it: then it is the
# sample before that moment that counts. The steps of the newest log have every offset below its end once, but for those
# that did not grow.
TIMED_LAG = f"""
WITH lowest AS (
  SELECT cluster_id, topic, `partition`, min(committed_offset) AS lowest_offset
  FROM $offsets
  GROUP BY cluster_id, topic, `partition`
),
near AS (
  {_last_reached("lowest", f"samples.sampled_at >= {_DAY_BEFORE}")}
),
far AS (
  SELECT cluster_id, topic, `partition`, lowest_offset FROM near WHERE reached_at IS NULL
),
since AS (
  SELECT cluster_id, topic, `partition`, reached_at - {_BEFORE} AS sampled_at FROM near WHERE reached_at IS NOT NULL
  UNION ALL
  SELECT cluster_id, topic, `partition`, reached_at - {_BEFORE} FROM ({_last_reached("far", "true")}) searched
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
