"""The view stale_topics: topics with committed offsets and without readers, a source of false lag."""

from __future__ import annotations

from group_coordinator.tables.views.definition import (
    CLUSTER_ID,
    TOPIC,
    ViewDefinition,
    described,
    total_of,
)
from group_coordinator.tables.views.position_steps import NEWEST_SAMPLES, position_steps, small

_SAMPLES = f"""(
    SELECT {small("candidates")} samples.*
    FROM $topic_positions samples
    JOIN candidates
      ON candidates.cluster_id = samples.cluster_id AND candidates.topic = samples.topic
  )"""  # noqa: S608 - texts of our own

# Only the samples of topics that may be stale are sorted.
_TEXT = f"""
WITH newest AS ({NEWEST_SAMPLES}),
readers AS (
  SELECT cluster_id, topic, count(CASE WHEN committed_partitions > 0 THEN 1 END) AS group_count,
    max(last_commit_at) AS last_commit_at,
    max(CASE WHEN is_subscribed OR assigned_partitions > 0 THEN 1 ELSE 0 END) AS has_members
  FROM $topic_groups
  GROUP BY cluster_id, topic
),
ends AS (
  SELECT cluster_id, topic, {total_of("lag")} AS total_lag, max(sampled_at) AS sampled_at
  FROM $lag
  GROUP BY cluster_id, topic
),
known AS (
  SELECT readers.cluster_id, readers.topic, readers.group_count, readers.last_commit_at, ends.total_lag,
    newest.sampled_at - INTERVAL '1' DAY AS day_before, ends.sampled_at IS NOT NULL AS is_there,
    readers.has_members = 0 AND readers.last_commit_at < newest.sampled_at - INTERVAL '1' DAY AS is_unread
  FROM readers
  JOIN newest ON newest.cluster_id = readers.cluster_id
  LEFT JOIN ends ON ends.cluster_id = readers.cluster_id AND ends.topic = readers.topic
  WHERE readers.group_count > 0
),
candidates AS (
  SELECT * FROM known WHERE is_unread OR NOT is_there
),
growth AS (
  SELECT cluster_id, topic, max(CASE WHEN from_offset < log_end_offset THEN sampled_at END) AS last_written_at
  FROM ({position_steps(_SAMPLES)}) steps
  GROUP BY cluster_id, topic
)
SELECT candidates.cluster_id, candidates.topic, candidates.group_count, candidates.last_commit_at,
  growth.last_written_at, candidates.total_lag,
  CASE
    WHEN is_there AND growth.last_written_at >= candidates.day_before THEN 'unread'
    WHEN is_there THEN 'unused'
    WHEN growth.topic IS NOT NULL THEN 'deleted'
    ELSE 'never-sampled'
  END AS why
FROM candidates
LEFT JOIN growth ON growth.cluster_id = candidates.cluster_id AND growth.topic = candidates.topic
WHERE candidates.is_unread OR growth.topic IS NOT NULL
"""  # noqa: S608 - texts of our own

STALE_TOPICS = ViewDefinition(
    name="stale_topics",
    meaning="A row for each topic with committed offsets that is deleted or not read any more: no member subscribes to it or has a partition of it, and no group has committed it for a day before the cluster's newest sample",
    columns=(
        *(CLUSTER_ID, TOPIC),
        *described(
            """
            group_count bigint Groups that have committed offsets of it
            last_commit_at timestamp Time of the last commit
            last_written_at? timestamp The first sample after it last grew; null: it has not grown since its first sample
            total_lag? bigint Lag of all groups together; null: ends are not known
            why string deleted: it was sampled once, and is missing in the newest samples; unread: it still grew within the day, so that lag grows too; unused: it did not grow within the day; never-sampled: no group reads it and there is no sample, so that it was deleted before the first sample, or is not sampled
            """
        ),
    ),
    text=_TEXT,
    answers="Which topics have lag that no group will ever read?",
    example="SELECT topic, why, group_count, total_lag, last_commit_at, last_written_at FROM stale_topics "
    "WHERE last_commit_at < now() - INTERVAL '7' DAY ORDER BY total_lag DESC",
)
