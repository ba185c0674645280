"""The view lag_history: the lag of groups at each sample."""

from __future__ import annotations

from group_coordinator.tables.views.definition import (
    PARTITION_KEY,
    ViewDefinition,
    is_ahead,
    is_offset,
    optional,
    required,
)
from group_coordinator.tables.views.position_steps import (
    BEGINS,
    FIRST_LEFT,
    how_it_is_known,
    is_marker,
    reached,
    seconds_behind,
    small,
)

_OF_PARTITION = "PARTITION BY cluster_id, group_id, topic, `partition`"
_IN_TIME = (
    f"{_OF_PARTITION} ORDER BY at, CASE WHEN committed IS NULL THEN 1 ELSE 0 END, batch_id, seq, "
    "log_end_offset ROWS BETWEEN UNBOUNDED PRECEDING AND"
)
_OF_READER = (
    "PARTITION BY readers.cluster_id, readers.group_id, readers.topic, readers.`partition` "
    "ORDER BY ends.sampled_at, ends.log_end_offset"
)
_OF_SAMPLES = f"({_OF_PARTITION} ORDER BY sampled_at, sampled_end)"
_STEP_SO_FAR = (
    f"({_OF_PARTITION}, log_began_at ORDER BY place, kind "
    "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"
)

# Commits and samples in the order of time give the committed offset at each sample (-1: none). Then the steps of each
# log and these offsets in the order of offsets give the step of each offset: both grow, so that the last step is the
# greatest of all numbers so far. A share group's start offset counts at its own samples alone: its end is in no record. No row meets any other but its neighbour, and a condition on the group comes first.
# A UNION of three would keep DataFusion from reading only the group's rows. Its last_value(...) IGNORE NULLS would look at all rows before, for each row.
_TEXT = f"""
WITH readers AS (
  SELECT DISTINCT cluster_id, group_id, topic, `partition`
  FROM (
    SELECT cluster_id, group_id, topic, `partition` FROM $coordinator_log WHERE record_type IN (0, 1)
    UNION ALL
    SELECT cluster_id, group_id, topic, `partition` FROM $share_group_offsets
  ) named
),
moments AS (
  SELECT {small("readers")} readers.cluster_id, readers.group_id, readers.topic, readers.`partition`, ends.sampled_at,
    ends.log_end_offset AS sampled_end,
    {reached("ends.log_end_offset", "ends.sampled_at", _OF_READER)} AS log_end_offset,
    {reached("ends.log_start_offset", "ends.sampled_at", _OF_READER)} AS log_start_offset,
    ends.log_end_offset - ends.last_stable_offset AS held_back
  FROM readers
  JOIN $topic_positions ends
    ON ends.cluster_id = readers.cluster_id AND ends.topic = readers.topic AND ends.`partition` = readers.`partition`
),
samples AS (
  SELECT moments.*, lag(log_end_offset) OVER {_OF_SAMPLES} AS from_offset,
    lag(log_start_offset) OVER {_OF_SAMPLES} AS from_start, lag(sampled_at) OVER {_OF_SAMPLES} AS from_at,
    lag(held_back) OVER {_OF_SAMPLES} > 0 AS from_open
  FROM moments
),
commits AS (
  SELECT cluster_id, group_id, topic, `partition`, at, coalesce(`after`, -1) AS committed, at AS committed_at, batch_id, seq,
    NULL AS log_start_offset, NULL AS log_end_offset, NULL AS held_back, NULL AS sampled_at, NULL AS begins,
    NULL AS from_offset, NULL AS from_at, NULL AS from_open, NULL AS described_at, NULL AS share_lag
  FROM $offset_changes
  UNION ALL
  SELECT cluster_id, group_id, topic, `partition`, sampled_at AS at, coalesce(start_offset, -1), sampled_at AS committed_at, 0, 0,
    NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, sampled_at AS described_at, lag
  FROM $share_group_offsets
),
told AS (
  SELECT * FROM commits
  UNION ALL
  SELECT cluster_id, group_id, topic, `partition`, sampled_at AS at, NULL, NULL, NULL, NULL,
    log_start_offset, log_end_offset, held_back, sampled_at, {BEGINS}, from_offset, from_at, from_open, NULL, NULL
  FROM samples
),
beside AS (
  SELECT told.*, count(committed) OVER ({_IN_TIME} CURRENT ROW) AS commits_so_far FROM told
),
marked AS (
  SELECT *
  FROM (
    SELECT beside.*, max(committed) OVER ({_OF_PARTITION}, commits_so_far) AS committed_offset,
      max(committed_at) OVER ({_OF_PARTITION}, commits_so_far) AS last_commit_at,
      max(described_at) OVER ({_OF_PARTITION}, commits_so_far) AS last_described_at,
      max(share_lag) OVER ({_OF_PARTITION}, commits_so_far) AS last_share_lag
    FROM beside
  ) known
  WHERE sampled_at IS NOT NULL
),
sampled AS (
  SELECT cluster_id, group_id, topic, `partition`, at, log_start_offset, log_end_offset, held_back, last_share_lag,
    CASE WHEN coalesce(last_described_at, at) = at THEN committed_offset END AS committed_offset,
    {is_ahead("committed_offset", "last_commit_at", "log_end_offset", "at")} AS is_ahead,
    CASE WHEN NOT begins THEN from_offset END AS from_offset,
    CASE WHEN NOT begins THEN from_at END AS from_at,
    CASE WHEN from_open AND NOT begins THEN log_end_offset END AS open_step,
    max(CASE WHEN begins THEN at END) OVER (
      {_OF_PARTITION} ORDER BY at, log_end_offset ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS log_began_at
  FROM marked
),
places AS (
  SELECT sampled.*, kind,
    CASE WHEN kind = 0 THEN coalesce(from_offset, -1) ELSE {FIRST_LEFT} END AS place
  FROM sampled
  CROSS JOIN (VALUES (0), (1)) AS kinds(kind)
  WHERE (kind = 0 AND (from_offset IS NULL OR log_end_offset > from_offset))
    OR (kind = 1 AND {is_offset("committed_offset")})
),
found AS (
  SELECT cluster_id, group_id, topic, `partition`, at, committed_offset, log_start_offset, log_end_offset, held_back, last_share_lag,
    is_ahead, kind, place,
    nullif(max(CASE WHEN kind = 0 THEN place END) OVER {_STEP_SO_FAR}, -1) AS from_offset,
    max(CASE WHEN kind = 0 THEN log_end_offset END) OVER {_STEP_SO_FAR} AS to_offset,
    max(CASE WHEN kind = 0 THEN from_at END) OVER {_STEP_SO_FAR} AS from_at,
    max(CASE WHEN kind = 0 THEN at END) OVER {_STEP_SO_FAR} AS step_at,
    max(CASE WHEN kind = 0 THEN open_step END) OVER {_STEP_SO_FAR} AS open_step
  FROM places
),
timed AS (
  SELECT lags.*, lag > 0 AND NOT {is_marker("lag", "held_back", "open_step = to_offset")} AS is_behind
  FROM (
    SELECT found.*,
      CASE WHEN log_end_offset > committed_offset
          THEN least(last_share_lag, log_end_offset - greatest(committed_offset, log_start_offset))
        WHEN NOT is_ahead THEN 0 END AS lag
    FROM found
    WHERE kind = 1
  ) lags
)
SELECT cluster_id, group_id, topic, `partition`, at AS sampled_at, committed_offset, log_end_offset, lag,
  CASE WHEN is_behind THEN {seconds_behind("place", "at")}
    WHEN NOT is_ahead THEN CAST(0 AS DOUBLE) END AS lag_seconds,
  CASE WHEN is_behind THEN {how_it_is_known("place")}
    WHEN is_ahead THEN 'ahead' ELSE 'exact' END AS how,
  CASE WHEN log_start_offset > committed_offset THEN log_start_offset - committed_offset ELSE 0 END AS lost
FROM timed
"""  # noqa: S608 - texts of our own

LAG_HISTORY = ViewDefinition(
    name="lag_history",
    meaning="A row for each sample of a partition, and each group that had committed it by then and had not lost it again, or share group with a start offset in the sample; a condition on group_id keeps it quick",
    columns=(
        *PARTITION_KEY,
        required("sampled_at", "timestamp", "Time of the sample"),
        required(
            "committed_offset",
            "bigint",
            "The next offset that the group would read then; of a share group the start offset",
        ),
        required("log_end_offset", "bigint", "The end of the log then"),
        optional("lag", "bigint", "As in lag, at that time; null: `how` is ahead"),
        optional("lag_seconds", "double", "As in time_lag, at that time; null: `how` is ahead"),
        required("how", "string", "As in time_lag"),
        required(
            "lost",
            "bigint",
            "As in lag, at that time: above 0 from the first sample on whose log begins after the committed offset",
        ),
    ),
    text=_TEXT,
    answers="How far was a group behind in the course of a day, hour by hour, at the worst of its samples and partitions?",
    example="SELECT cluster_id, date_trunc('hour', sampled_at) AS `hour`, max(lag) AS lag, max(lag_seconds) AS lag_seconds FROM lag_history "
    "WHERE group_id = 'billing' AND topic = 'orders' GROUP BY cluster_id, date_trunc('hour', sampled_at) "
    "ORDER BY `hour` DESC LIMIT 24",
)
