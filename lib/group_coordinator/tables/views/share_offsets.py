"""SQL for the start offsets of share groups in the samples: a share group commits nothing, and this is its place in a partition."""

from __future__ import annotations

from group_coordinator.tables.views.definition import offset_or_null
from group_coordinator.tables.views.offset_changes import RECENT_HOURS
from group_coordinator.tables.views.position_steps import NEWEST_SAMPLES, since, small

SHARE_OFFSETS = "share_group_offsets"
"""The name of the table."""
NO_SHARE_OFFSETS = """(
SELECT CAST(NULL AS STRING) AS cluster_id, CAST(NULL AS STRING) AS group_id, CAST(NULL AS STRING) AS topic,
  CAST(NULL AS INT) AS `partition`, CAST(NULL AS BIGINT) AS start_offset, CAST(NULL AS INT) AS leader_epoch,
  CAST(NULL AS BIGINT) AS lag, NULL AS sampled_at
WHERE false
)"""
"""TIMESTAMP is nanoseconds in DataFusion, and the views would count those as microseconds: the time has no type."""

# DataFusion rejects a UNION of columns with different comments; a CASE has none.
_SAMPLES = f"${SHARE_OFFSETS}"


def _of_share_groups(columns: str, age: str) -> str:
    # Only of groups that the tables have as share groups: a coordinator may have a group of that name, of another type.
    return f"""
    SELECT {small("newest")} samples.*, {columns}
    FROM {_SAMPLES} samples
    JOIN ({NEWEST_SAMPLES}) newest
      ON newest.cluster_id = samples.cluster_id AND samples.sampled_at >= newest.sampled_at - {age}
    JOIN $groups known
      ON known.cluster_id = samples.cluster_id AND known.group_id = samples.group_id AND known.group_type = 'share'
    WHERE samples.sampled_at >= {since(age, _SAMPLES)}"""  # noqa: S608 - texts of our own


_OF_PARTITION = (
    "PARTITION BY samples.cluster_id, samples.group_id, samples.topic, samples.`partition`"
)

SHARE_OFFSETS_NOW = f"""
SELECT cluster_id, group_id, topic, `partition`, {offset_or_null("start_offset")} AS start_offset,
  {offset_or_null("lag")} AS lag
FROM ({_of_share_groups(f"max(samples.sampled_at) OVER ({_OF_PARTITION}) AS last_sampled_at", "INTERVAL '5' MINUTE")}
) recent
WHERE sampled_at = last_sampled_at
"""  # noqa: S608 - texts of our own
"""A partition's newest sample, unless it is five minutes older than the newest sample of the cluster's topics."""

SHARE_OFFSET_MOVES = f"""
SELECT cluster_id, group_id, topic, `partition`, sampled_at, {offset_or_null("start_offset")} AS start_offset
FROM ({_of_share_groups(f"lag(samples.start_offset) OVER ({_OF_PARTITION} ORDER BY samples.sampled_at) AS before", f"INTERVAL '{RECENT_HOURS}' HOUR")}
) recent
WHERE start_offset <> before OR (start_offset IS NOT NULL AND before IS NULL)
"""  # noqa: S608 - texts of our own
"""The samples of the last hours that found another start offset than the sample before, and the first."""
