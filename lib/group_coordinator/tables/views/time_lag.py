"""The view time_lag: the time that groups are behind."""

from __future__ import annotations

from group_coordinator.tables.views.definition import (
    PARTITION_KEY,
    ViewDefinition,
    offset_or_null,
    optional,
)
from group_coordinator.tables.views.position_steps import (
    FIRST_LEFT,
    MOMENT,
    how_it_is_known,
    is_marker,
    large,
    micros,
    position_steps,
    reached,
    seconds_behind,
    since,
    small,
)
from group_coordinator.tables.views.share_offsets import SHARE_OFFSETS_NOW

LAG_SECONDS = optional(
    "lag_seconds",
    "double",
    "From when the end of the log was at the first offset left to read until the sample: the committed offset, or the log's start "
    "if that is later; 0: there is nothing to read, or only a transaction's marker; null: as lag",
)
HOW = optional(
    "how",
    "string",
    "exact: a sample had that end, or there is nothing to read; interpolated between two samples; at-least: the oldest sample of this log has a "
    "later end already; ahead: the log ends before the committed offset, and lag_seconds is null. Null: otherwise as lag_seconds",
)
CERTAIN_SECONDS = optional(
    "certain_seconds",
    "double",
    "As lag_seconds, but from the first sample with a later end on: the group is behind for at least this time, however long the interval of samples is; null: as lag_seconds",
)

# SQL for the time before the newest sample in which a partition is searched first. It has samples even where only one
# an hour is kept.
_NEAR = "INTERVAL '2' HOUR"

_SINCE = since(_NEAR)

_EVER = "TIMESTAMP '1970-01-01 00:00:00'"

_IN_TIME = (
    "PARTITION BY samples.cluster_id, samples.topic, samples.`partition` "
    "ORDER BY samples.sampled_at, samples.log_end_offset"
)


def _from_reached_on(lowest: str, beginning: str) -> str:
    """Return SQL for samples since a time, with `reached_at`: when the end was last at or before the lowest offset, if ever."""
    # Samples of the first moment never count, as some of that moment may be missing.
    return f"""
  SELECT ends.*,
    max(CASE WHEN reached_end <= lowest_offset AND sampled_at > first_at + {MOMENT} THEN sampled_at END) OVER (
      PARTITION BY cluster_id, topic, `partition`
    ) AS reached_at
  FROM (
    SELECT {small(lowest)} samples.cluster_id, samples.topic, samples.`partition`, samples.sampled_at, samples.log_start_offset,
      samples.log_end_offset, samples.last_stable_offset, {lowest}.lowest_offset,
      {reached("samples.log_end_offset", "samples.sampled_at", _IN_TIME)} AS reached_end,
      min(samples.sampled_at) OVER ({_IN_TIME} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS first_at
    FROM $topic_positions samples
    JOIN {lowest}
      ON {lowest}.cluster_id = samples.cluster_id AND {lowest}.topic = samples.topic
      AND {lowest}.`partition` = samples.`partition`
    WHERE samples.sampled_at >= {beginning}
  ) ends"""  # noqa: S608 - texts of our own


_SAMPLE = "cluster_id, topic, `partition`, sampled_at, log_start_offset, log_end_offset, last_stable_offset"

# Samples before the end was at the lowest committed offset do not matter to any group: only later samples become steps.
# Nearly every group was at an end of the last hours, so the year is searched only for the others. A partition without a
# sample in these hours has no lag. The steps of the newest log have every offset below its end once, except steps
# without growth.
TIMED_LAG = f"""
WITH lowest AS (
  SELECT cluster_id, topic, `partition`, min(committed_offset) AS lowest_offset
  FROM (
    SELECT cluster_id, topic, `partition`, {offset_or_null("committed_offset")} AS committed_offset FROM $offsets
    UNION ALL
    SELECT cluster_id, topic, `partition`, start_offset FROM ({SHARE_OFFSETS_NOW}) share_offsets
  ) read_offsets
  WHERE committed_offset IS NOT NULL
  GROUP BY cluster_id, topic, `partition`
),
near AS (
  {_from_reached_on("lowest", _SINCE)}
),
far AS (
  SELECT DISTINCT cluster_id, topic, `partition`, lowest_offset FROM near WHERE reached_at IS NULL
),
wanted AS (
  SELECT {_SAMPLE} FROM near WHERE sampled_at >= reached_at - {MOMENT}
  UNION ALL
  SELECT {_SAMPLE} FROM ({_from_reached_on("far", _EVER)}) searched
  WHERE reached_at IS NULL OR sampled_at >= reached_at - {MOMENT}
),
steps AS (
  SELECT cluster_id, topic, `partition`, from_offset, log_end_offset AS to_offset, from_at, sampled_at AS step_at, from_open
  FROM (
    SELECT steps.*,
      max(CASE WHEN begins THEN sampled_at END) OVER (PARTITION BY cluster_id, topic, `partition`) AS began_at
    FROM ({position_steps("wanted")}) steps
  ) grown
  WHERE sampled_at >= began_at AND (from_offset IS NULL OR log_end_offset > from_offset)
),
places AS (
  SELECT own.*, {FIRST_LEFT} AS first_left FROM $lag own
),
timed AS (
  SELECT {large("steps")} own.*, from_offset, to_offset, from_at, step_at,
    own.lag_from_start > 0 AND NOT {is_marker("own.lag", "own.held_back", "from_open")} AS is_behind,
    own.lost > 0 AND NOT {is_marker("own.lag + own.lost", "own.held_back", "from_open")} AS is_loss
  FROM places own
  LEFT JOIN steps
    ON steps.cluster_id = own.cluster_id AND steps.topic = own.topic AND steps.`partition` = own.`partition`
    AND own.committed_offset < own.log_end_offset AND own.first_left < steps.to_offset
    AND (steps.from_offset IS NULL OR own.first_left >= steps.from_offset)
)
SELECT timed.*,
  CASE WHEN lag IS NULL THEN NULL WHEN is_behind THEN {seconds_behind("first_left", "sampled_at")}
    ELSE CAST(0 AS DOUBLE) END AS lag_seconds,
  CASE WHEN ahead > 0 THEN 'ahead' WHEN lag IS NULL THEN NULL WHEN is_behind THEN {how_it_is_known("first_left")}
    ELSE 'exact' END AS how,
  CASE WHEN lag IS NULL THEN NULL WHEN is_behind THEN CAST({micros("sampled_at")} - {micros("step_at")} AS DOUBLE) / 1000000
    ELSE CAST(0 AS DOUBLE) END AS certain_seconds
FROM timed
"""  # noqa: S608 - texts of our own
"""The rows of time_lag with the columns of lag, `is_behind`: there are records to read, and `is_loss`: records were lost."""

_TEXT = f"""
SELECT cluster_id, group_id, topic, `partition`, lag_seconds, how, certain_seconds FROM ({TIMED_LAG}) timed
"""  # noqa: S608 - texts of our own

TIME_LAG = ViewDefinition(
    name="time_lag",
    meaning="A row for each row of lag: the time for which there has been something that the group has not read",
    columns=(*PARTITION_KEY, LAG_SECONDS, HOW, CERTAIN_SECONDS),
    text=_TEXT,
    answers="Which groups are more than five minutes behind?",
    example="SELECT cluster_id, group_id, topic, max(lag_seconds) AS seconds_behind FROM time_lag "
    "WHERE lag_seconds > 300 GROUP BY cluster_id, group_id, topic ORDER BY seconds_behind DESC",
)
