"""Where the logs of partitions end, by the newest samples: the ground of what is said of lag."""

from __future__ import annotations

from group_coordinator.tables.views.position_steps import MOMENT, small

NEWEST_SAMPLES = """
SELECT cluster_id, max(sampled_at) AS sampled_at FROM $topic_positions GROUP BY cluster_id
"""
"""The time of each cluster's newest sample: for questions about lag, that is now."""

_FIRST_THAT_COUNTS = (
    f"(SELECT min(sampled_at) - INTERVAL '5' MINUTE FROM ({NEWEST_SAMPLES}) newest_of_clusters)"
)
"""Of any cluster: a comparison leaves out a year of samples in less time than a join."""

# A partition may be missing in one round, as it has no leader for a moment, and several samplers may share the
# topics among them. A topic that all of them have left out for so long is gone. Of samples of one moment all rows count:
# who asks takes the largest end.
POSITIONS_NOW = f"""
SELECT {small("recent")} samples.cluster_id, samples.topic, samples.`partition`, samples.log_start_offset, samples.log_end_offset,
  samples.last_stable_offset, samples.sampled_at
FROM $topic_positions samples
JOIN (
  SELECT {small("newest")} positions.cluster_id, topic, `partition`, max(positions.sampled_at) AS sampled_at
  FROM $topic_positions positions
  JOIN ({NEWEST_SAMPLES}) newest
    ON newest.cluster_id = positions.cluster_id
    AND positions.sampled_at >= newest.sampled_at - INTERVAL '5' MINUTE
  WHERE positions.sampled_at >= {_FIRST_THAT_COUNTS}
  GROUP BY positions.cluster_id, topic, `partition`
) recent
  ON recent.cluster_id = samples.cluster_id AND recent.topic = samples.topic
  AND recent.`partition` = samples.`partition` AND samples.sampled_at >= recent.sampled_at - {MOMENT}
WHERE samples.sampled_at >= {_FIRST_THAT_COUNTS}
"""
"""A partition's newest sample, unless it is five minutes older than the newest one of its cluster."""
