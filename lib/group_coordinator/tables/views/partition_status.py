"""The view partition_status: Burrow's rules for the lag of each partition, changed where they raise false alarms."""

from __future__ import annotations

from group_coordinator.tables.views.definition import (
    COMMITTED_AT,
    PARTITION_KEY,
    SURELY_LATER_SECONDS,
    ViewDefinition,
    floor_of,
    offset_or_null,
    optional,
    required,
)
from group_coordinator.tables.views.group_records import PLACE_IN_LOG, PRODUCER_ID
from group_coordinator.tables.views.lag import COMMITTED_OFFSET, LAG
from group_coordinator.tables.views.offset_changes import RECENT_HOURS, RECENT_OFFSETS
from group_coordinator.tables.views.position_steps import (
    NEWEST_SAMPLES,
    large,
    micros,
    position_steps,
    since,
    small,
)
from group_coordinator.tables.views.share_offsets import SHARE_OFFSET_MOVES
from group_coordinator.tables.views.time_lag import LAG_SECONDS, TIMED_LAG

WINDOW = 10
"""The number of newest commits that are evaluated."""
_BUSY_MINUTES = 10
"""With WINDOW commits in the last minutes, the log before them is not looked at."""
LEAST_SILENCE_SECONDS = 60
"""A consumer that commits in bursts is not stopped between two of them."""
UNKNOWN_SILENCE_SECONDS = 600
"""Tolerated silence after a single commit, which does not show how often commits come."""
SHARE_SILENCE_SECONDS = 300
"""By Kafka's defaults a record that a member of a share group does not finish is delivered five times, for 30 s each. The start offset
rests meanwhile.
"""

_OF_PARTITION = "PARTITION BY cluster_id, group_id, topic, `partition`"
_SO_FAR = "PARTITION BY own.cluster_id, own.group_id, own.topic, own.`partition` ORDER BY own.place DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"
"""From the newest change back; the commit of the state table comes last."""
_OF_STATE_TABLE = f"""
  UNION ALL
  SELECT cluster_id, group_id, topic, `partition`, {COMMITTED_AT}, {offset_or_null("committed_offset")}, -1, 0, {LEAST_SILENCE_SECONDS}, 0
  FROM $offsets"""  # noqa: S608 - texts of our own
_OF_SHARE_GROUPS = f"""
  UNION ALL
  SELECT cluster_id, group_id, topic, `partition`, sampled_at, start_offset, {micros("sampled_at")}, 1, {SHARE_SILENCE_SECONDS}, 0
  FROM ({SHARE_OFFSET_MOVES}) moves"""  # noqa: S608 - texts of our own
_IS_OF_LAST_MINUTES = f"is_pending = 0 AND `after` IS NOT NULL AND own.at >= newest.sampled_at - INTERVAL '{_BUSY_MINUTES}' MINUTE"
_BEFORE_NEWEST = f"""
  JOIN newest
    ON newest.cluster_id = own.cluster_id AND own.at <= newest.sampled_at
    AND (own.is_recent = 0 OR own.at >= newest.sampled_at - INTERVAL '{RECENT_HOURS}' HOUR)"""


def _of_only_record(column: str) -> str:
    """Return SQL for a column of a partition's only recent record, or of the state table's commit if it has none."""
    recent = f"max(CASE WHEN is_recent = 1 THEN {column} END)"
    return f"CASE WHEN sum(is_recent) > 0 THEN {recent} ELSE max({column}) END"


_RECENT_SAMPLES = f"""(
    SELECT {small("newest")} positions.*
    FROM $topic_positions positions
    JOIN newest
      ON newest.cluster_id = positions.cluster_id
      AND positions.sampled_at >= newest.sampled_at - INTERVAL '1' HOUR
    WHERE positions.sampled_at >= {since("INTERVAL '1' HOUR")}
  )"""  # noqa: S608 - texts of our own
_MINUTE = 60_000_000
"""Microseconds."""
_MINUTES = ", ".join(f"({number * _MINUTE})" for number in range(61))
"""Microseconds from the first minute of a step to each minute that it may touch: its samples are of the same hour."""


def _minute_of(timestamp: str) -> str:
    return floor_of(micros(timestamp), _MINUTE)


_HELD_SECONDS = (
    f"CAST({micros('own.sampled_at')} - {micros('holds.held_until')} AS DOUBLE) / 1000000"
)
"""Seconds since the last sample with an open transaction at the committed offset: a read_committed consumer waits there."""
# A group that commits continuously has no sample later than its newest commit, so all of its last commits decide.
_IS_AHEAD = f"""(ahead > 0 OR (committed_offset > log_end_offset AND lowest_offset > log_end_offset
      AND quiet_seconds + span_seconds > {SURELY_LATER_SECONDS}))"""
_END_AT_COMMIT = f"""
      steps.from_offset + (steps.log_end_offset - steps.from_offset)
        * CAST({micros("commits.at")} - {micros("steps.from_at")} AS DOUBLE)
        / CAST({micros("steps.sampled_at")} - {micros("steps.from_at")} AS DOUBLE)"""

# The moves of a share group's start offset count as its commits. The state table has the last commit of groups without a commit in
# the last hours. Only partitions with several recent records, or with a transaction, are sorted. Burrow's ends are older than the
# commits that it compares them with, so that a continuous reader has no lag there. Between close samples it has lag:
# the records written between two commits. So the condition is that the next commit left some of the records of that
# time (lowest_left). A commit is compared with the steps of its minute, not with those of the whole hour.
_TEXT = f"""
WITH newest AS ({NEWEST_SAMPLES}),
recent AS (
  SELECT cluster_id, group_id, topic, `partition`, event_time AS at, {offset_or_null("`offset`")} AS `after`, {PLACE_IN_LOG} AS place, 1 AS is_recent,
    {LEAST_SILENCE_SECONDS} AS least_silence, CASE WHEN {PRODUCER_ID} IS NULL THEN 0 ELSE 1 END AS is_pending
  FROM $coordinator_log
  WHERE record_type IN (0, 1) AND event_time >= {since(f"INTERVAL '{RECENT_HOURS}' HOUR")}{_OF_SHARE_GROUPS}
),
known_changes AS (
  SELECT cluster_id, group_id, topic, `partition`, at, {offset_or_null("`offset`")} AS `after`, place, 1 AS is_recent,
    {LEAST_SILENCE_SECONDS} AS least_silence, 0 AS is_pending
  FROM ({RECENT_OFFSETS}) recent_offsets{_OF_SHARE_GROUPS}{_OF_STATE_TABLE}
),
partition_records AS (
  SELECT own.cluster_id, own.group_id, own.topic, own.`partition`, sum(is_recent) + max(is_pending) AS recent_records,
    {_of_only_record("at")} AS at, {_of_only_record("`after`")} AS `after`, {_of_only_record("least_silence")} AS least_silence,
    max(newest.sampled_at) AS sampled_at
  FROM (SELECT * FROM recent{_OF_STATE_TABLE}) own{_BEFORE_NEWEST}
  GROUP BY own.cluster_id, own.group_id, own.topic, own.`partition`
),
several AS (
  SELECT own.cluster_id, own.group_id, own.topic, own.`partition`,
    count(CASE WHEN {_IS_OF_LAST_MINUTES} THEN 1 END) AS last_commits, min(CASE WHEN {_IS_OF_LAST_MINUTES} THEN place END) AS since_place
  FROM recent own{_BEFORE_NEWEST}
  GROUP BY own.cluster_id, own.group_id, own.topic, own.`partition`
  HAVING count(*) + max(is_pending) > 1
),
commits AS (
  SELECT * FROM (
    SELECT own.*, newest.sampled_at, count(own.`after`) OVER ({_SO_FAR}) AS age,
      sum(CASE WHEN own.`after` IS NULL THEN 1 ELSE 0 END) OVER ({_SO_FAR}) AS losses_since
    FROM known_changes own{_BEFORE_NEWEST}
    JOIN several
      ON several.cluster_id = own.cluster_id AND several.group_id = own.group_id
      AND several.topic = own.topic AND several.`partition` = own.`partition`
    WHERE several.last_commits < {WINDOW} OR own.place >= several.since_place
  ) aged
  WHERE losses_since = 0 AND age <= {WINDOW} AND (is_recent = 1 OR age = 1)
),
recent_steps AS ({position_steps(_RECENT_SAMPLES)}),
holds AS (
  SELECT cluster_id, topic, `partition`, last_stable_offset, max(sampled_at) AS held_until
  FROM {_RECENT_SAMPLES} samples
  WHERE last_stable_offset < log_end_offset
  GROUP BY cluster_id, topic, `partition`, last_stable_offset
),
steps_by_minute AS (
  SELECT steps.*, {_minute_of("steps.from_at")} + minutes.distance AS minute
  FROM recent_steps steps CROSS JOIN (VALUES {_MINUTES}) minutes(distance)
  WHERE {_minute_of("steps.from_at")} + minutes.distance <= {micros("steps.sampled_at")}
),
lags AS (
  SELECT {large("steps")} commits.*, {_END_AT_COMMIT} - commits.`after` AS lag_then
  FROM commits
  LEFT JOIN steps_by_minute steps
    ON steps.cluster_id = commits.cluster_id AND steps.topic = commits.topic
    AND steps.`partition` = commits.`partition` AND steps.minute = {_minute_of("commits.at")}
    AND commits.at > steps.from_at AND commits.at <= steps.sampled_at
),
windows AS (
  SELECT cluster_id, group_id, topic, `partition`, count(*) AS commits, min(`after`) AS lowest_offset,
    max(`after`) AS highest_offset, max(CASE WHEN age = 1 THEN `after` END) AS last_offset,
    CAST({micros("max(at)")} - {micros("min(at)")} AS DOUBLE) / 1000000 AS span_seconds,
    CAST({micros("max(sampled_at)")} - {micros("max(at)")} AS DOUBLE) / 1000000 AS quiet_seconds,
    max(least_silence) AS least_silence, count(lag_then) AS known_lags, min(lag_then) AS lowest_lag,
    count(CASE WHEN lag_then < lag_before THEN 1 END) AS times_nearer,
    min(lag_before + offset_before - `after`) AS lowest_left
  FROM (
    SELECT lags.*, lag(lag_then) OVER ({_OF_PARTITION} ORDER BY age DESC) AS lag_before,
      lag(`after`) OVER ({_OF_PARTITION} ORDER BY age DESC) AS offset_before
    FROM lags
  ) compared
  GROUP BY cluster_id, group_id, topic, `partition`
  UNION ALL
  SELECT cluster_id, group_id, topic, `partition`, 1, `after`, `after` AS highest_offset, `after` AS last_offset, CAST(0 AS DOUBLE),
    CAST({micros("sampled_at")} - {micros("at")} AS DOUBLE) / 1000000, least_silence, 0, NULL, 0, NULL
  FROM partition_records
  WHERE recent_records <= 1 AND `after` IS NOT NULL
),
partitions AS (
  SELECT own.cluster_id, own.group_id, own.topic, own.`partition`, own.committed_offset, own.log_end_offset, own.lag, own.lag_from_start, own.lag_seconds,
    own.is_behind, own.is_loss, own.held_back, own.ahead, own.is_subscribed, own.sampled_at, windows.lowest_offset, windows.highest_offset, windows.last_offset,
    windows.span_seconds, windows.quiet_seconds, windows.known_lags, windows.lowest_lag, windows.lowest_left, windows.times_nearer,
    coalesce(windows.commits, 0) AS commits,
    CASE WHEN {_HELD_SECONDS} < own.certain_seconds THEN {_HELD_SECONDS} ELSE own.certain_seconds END AS readable_seconds,
    greatest(
      windows.least_silence,
      coalesce({WINDOW - 1} * windows.span_seconds / nullif(windows.commits - 1, 0), {UNKNOWN_SILENCE_SECONDS})
    ) AS tolerated_seconds
  FROM ({TIMED_LAG}) own
  LEFT JOIN windows
    ON windows.cluster_id = own.cluster_id AND windows.group_id = own.group_id
    AND windows.topic = own.topic AND windows.`partition` = own.`partition`
  LEFT JOIN holds
    ON holds.cluster_id = own.cluster_id AND holds.topic = own.topic
    AND holds.`partition` = own.`partition` AND holds.last_stable_offset = greatest(own.committed_offset, own.log_start_offset)
),
silences AS (
  SELECT partitions.*, CASE WHEN quiet_seconds < readable_seconds THEN quiet_seconds ELSE readable_seconds END AS silent_seconds
  FROM partitions
)
SELECT cluster_id, group_id, topic, `partition`,
  CASE
    WHEN lag IS NULL AND ahead IS NULL THEN NULL
    WHEN NOT is_subscribed THEN 'UNSUBSCRIBED'
    WHEN {_IS_AHEAD} THEN 'AHEAD'
    WHEN is_loss THEN 'LOSS'
    WHEN NOT is_behind OR commits = 0 THEN 'OK'
    WHEN lag_from_start = held_back THEN 'HELD'
    WHEN silent_seconds > tolerated_seconds THEN 'STOP'
    WHEN highest_offset > last_offset THEN 'REWIND'
    WHEN commits < {WINDOW} THEN 'OK'
    WHEN lowest_offset = highest_offset AND readable_seconds >= quiet_seconds + span_seconds THEN 'STALL'
    WHEN lowest_offset = highest_offset THEN 'OK'
    WHEN known_lags = {WINDOW} AND lowest_lag > 0 AND lowest_left > 0 AND times_nearer = 0 THEN 'WARN'
    ELSE 'OK'
  END AS status,
  committed_offset, lag, lag_seconds, silent_seconds, commits, sampled_at
FROM silences
"""  # noqa: S608 - texts of our own

PARTITION_STATUS = ViewDefinition(
    name="partition_status",
    meaning="A row for each row of lag: the status of the partition as of the newest sample",
    columns=(
        *PARTITION_KEY,
        optional(
            "status",
            "string",
            "OK, WARN, STALL, STOP, LOSS, REWIND, AHEAD, HELD or UNSUBSCRIBED; null: nothing was committed, or the end is not known",
        ),
        *(COMMITTED_OFFSET, LAG, LAG_SECONDS),
        optional(
            "silent_seconds",
            "double",
            "Seconds with something to read and no commit (certain_seconds of time_lag, without the time that an open transaction held "
            "it back), or no move of a share group's start offset; null: as lag_seconds",
        ),
        required(
            "commits",
            "bigint",
            f"Number of newest commits that the status considers: {WINDOW} at most, of the {RECENT_HOURS} hours before the newest sample; "
            "or the last commit, if there is none in these hours. Of a share group: samples with another start offset than before",
        ),
        optional("sampled_at", "timestamp", "Time of the sample; null: the end is not known"),
    ),
    text=_TEXT,
    answers="Which partitions are not read any more?",
    example="SELECT group_id, topic, `partition`, status, lag, silent_seconds FROM partition_status "
    "WHERE status IN ('LOSS', 'STOP', 'STALL') ORDER BY silent_seconds DESC",
)
