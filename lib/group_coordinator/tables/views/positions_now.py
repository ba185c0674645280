"""Where the logs of partitions end, by the newest samples: the ground of what is said of lag."""

from __future__ import annotations

from group_coordinator.tables.views.position_steps import MOMENT, small

NEWEST_SAMPLES = """
SELECT cluster_id, max(sampled_at) AS sampled_at FROM $topic_positions GROUP BY cluster_id
"""
"""The time of each cluster's newest sample: for questions about lag, that is now."""


def since(before_newest: str) -> str:
    """SQL for a time so long before the newest sample, of the cluster that was sampled the longest ago.

    A comparison with one value leaves out a year of rows in less time than a join.

    Args:
        before_newest: SQL of an interval.
    """
    # Without LIMIT Spark makes one subquery of several, and then does not give its readers of files the value.
    return f"""(
      SELECT sampled_at - {before_newest} AS since FROM ({NEWEST_SAMPLES}) newest_of_clusters ORDER BY since LIMIT 1
    )"""  # noqa: S608 - texts of our own


_FIRST_THAT_COUNTS = since("INTERVAL '5' MINUTE")

# A partition may be missing in one round, as it has no leader for a moment, and several samplers may share the
# topics among them. A topic that all of them have left out for so long is gone. Of samples of one moment all rows count:
# who asks takes the largest end.
POSITIONS_NOW = f"""
SELECT cluster_id, topic, `partition`, log_start_offset, log_end_offset, last_stable_offset, sampled_at
FROM (
  SELECT {small("newest")} samples.*,
    max(samples.sampled_at) OVER (PARTITION BY samples.cluster_id, samples.topic, samples.`partition`) AS last_sampled_at
  FROM $topic_positions samples
  JOIN ({NEWEST_SAMPLES}) newest
    ON newest.cluster_id = samples.cluster_id AND samples.sampled_at >= newest.sampled_at - INTERVAL '5' MINUTE
  WHERE samples.sampled_at >= {_FIRST_THAT_COUNTS}
) recent
WHERE sampled_at >= last_sampled_at - {MOMENT}
"""  # noqa: S608 - texts of our own
"""A partition's newest sample, unless it is five minutes older than the newest one of its cluster."""
