"""The view at_risk: unread records that retention removes, or may remove soon."""

from __future__ import annotations

from group_coordinator.tables.views.definition import (
    PARTITION_KEY,
    ViewDefinition,
    optional,
    required,
)
from group_coordinator.tables.views.lag import COMMITTED_OFFSET
from group_coordinator.tables.views.position_steps import NEWEST_SAMPLES, micros, since, small

PACE_HOURS = 6
"""Retention removes whole segments, so that the log's start rests for hours."""
LEAST_UNREAD_SHARE = 0.5
"""A share of the log has the same meaning for a retention of an hour and of a month, unlike a number of records or seconds."""

_PACE_TIME = f"INTERVAL '{PACE_HOURS}' HOUR"
_FIRST_UNREAD = "greatest(own.committed_offset, own.log_start_offset)"

# An aggregate of all samples of these hours costs less than a second evaluation of lag, which would choose the samples of the
# logs at risk. A log that was higher in these hours was created again: its pace is not known.
_TEXT = f"""
WITH newest AS ({NEWEST_SAMPLES}),
paces AS (
  SELECT {small("newest")} samples.cluster_id, samples.topic, samples.`partition`, min(samples.sampled_at) AS first_at,
    min(samples.log_start_offset) AS first_start, max(samples.log_start_offset) AS highest_start,
    max(samples.log_end_offset) AS highest_end
  FROM $topic_positions samples
  JOIN newest
    ON newest.cluster_id = samples.cluster_id AND samples.sampled_at >= newest.sampled_at - {_PACE_TIME}
  WHERE samples.sampled_at >= {since(_PACE_TIME)}
  GROUP BY samples.cluster_id, samples.topic, samples.`partition`
),
unread AS (
  SELECT lags.*, CAST(lag_from_start AS DOUBLE) / nullif(log_end_offset - log_start_offset, 0) AS used_up
  FROM $lag lags
  WHERE coalesce(is_subscribed, committed_offset IS NOT NULL) AND ahead IS NULL
)
SELECT own.cluster_id, own.group_id, own.topic, own.`partition`, own.committed_offset, own.log_start_offset,
  own.log_end_offset, own.lost, own.lag_from_start AS readable_lag, own.used_up,
  CASE WHEN own.lag_from_start > 0 AND own.log_start_offset > paces.first_start
      AND own.log_start_offset = paces.highest_start AND own.log_end_offset = paces.highest_end
    THEN CAST({_FIRST_UNREAD} - own.log_start_offset AS DOUBLE)
      * CAST({micros("own.sampled_at")} - {micros("paces.first_at")} AS DOUBLE)
      / CAST(own.log_start_offset - paces.first_start AS DOUBLE) / 1000000
  END AS seconds_to_loss,
  own.sampled_at
FROM unread own
LEFT JOIN paces
  ON paces.cluster_id = own.cluster_id AND paces.topic = own.topic AND paces.`partition` = own.`partition`
WHERE own.lost > 0 OR own.used_up >= {LEAST_UNREAD_SHARE}
"""  # noqa: S608 - texts of our own

AT_RISK = ViewDefinition(
    name="at_risk",
    meaning="A row for each group and partition whose unread records are removed by retention, or may be soon: records are lost, or at "
    "least half of the log is unread. The group has committed the partition or subscribes to the topic, and has not left it",
    columns=(
        *(*PARTITION_KEY, COMMITTED_OFFSET),
        required("log_start_offset", "bigint", "The first offset that can still be read"),
        required("log_end_offset", "bigint", "The end of the log"),
        optional("lost", "bigint", "As in lag; null: nothing was committed"),
        required("readable_lag", "bigint", "Offsets left to read, lag_from_start of lag"),
        optional(
            "used_up",
            "double",
            "readable_lag as a share of the log from its start to its end, 0 to 1: at 1 the group reads at the log's start, and the next "
            "removal is a loss; null: the log is empty",
        ),
        optional(
            "seconds_to_loss",
            "double",
            "Time until the log's start reaches the committed offset, at the mean pace of the log's start in the samples of the last "
            f"{PACE_HOURS} hours; 0: it is there, or nothing was committed; null: the start did not move in these hours, the log was "
            "created again, or nothing is left to read",
        ),
        required("sampled_at", "timestamp", "Time of the newest sample"),
    ),
    text=_TEXT,
    answers="Which unread records will retention remove next, and which are lost already?",
    example="SELECT group_id, topic, `partition`, lost, readable_lag, used_up, seconds_to_loss FROM at_risk "
    "ORDER BY lost DESC NULLS LAST, seconds_to_loss NULLS LAST, used_up DESC LIMIT 10",
)
