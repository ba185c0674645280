"""The view cluster_differences: groups and offsets that are not the same in two clusters."""

from __future__ import annotations

from group_coordinator.tables.views.definition import (
    CLUSTER_ID,
    GROUP_ID,
    ViewDefinition,
    described,
    is_offset,
    required,
)

# Grouped, not joined: conditions on the clusters reach both scans, which those on a full join do not.
_TEXT = f"""
WITH clusters AS (
  SELECT cluster_id FROM $groups UNION SELECT cluster_id FROM $writers
),
pairs AS (
  SELECT own.cluster_id, other.cluster_id AS other_cluster_id
  FROM clusters own
  JOIN clusters other ON own.cluster_id <> other.cluster_id
),
entries AS (
  SELECT cluster_id, group_id, topic, `partition`, committed_offset, commit_timestamp
  FROM $offsets
  WHERE {is_offset("committed_offset")}
  UNION ALL
  SELECT cluster_id, group_id, NULL, NULL, NULL, NULL
  FROM $groups
),
sides AS (
  SELECT pairs.cluster_id, pairs.other_cluster_id, group_id, topic, `partition`, 1 AS is_own, 0 AS is_other,
    committed_offset, NULL AS other_committed_offset, commit_timestamp, NULL AS other_commit_timestamp
  FROM pairs
  JOIN entries ON entries.cluster_id = pairs.cluster_id
  UNION ALL
  SELECT pairs.cluster_id, pairs.other_cluster_id, group_id, topic, `partition`, 0 AS is_own, 1 AS is_other,
    NULL AS committed_offset, entries.committed_offset AS other_committed_offset,
    NULL AS commit_timestamp, entries.commit_timestamp AS other_commit_timestamp
  FROM pairs
  JOIN entries ON entries.cluster_id = pairs.other_cluster_id
)
SELECT cluster_id, other_cluster_id, group_id, topic, `partition`, max(committed_offset) AS committed_offset,
  max(other_committed_offset) AS other_committed_offset, max(committed_offset) - max(other_committed_offset) AS difference,
  CASE WHEN max(is_own) = 0 THEN cluster_id WHEN max(is_other) = 0 THEN other_cluster_id END AS missing_in,
  max(commit_timestamp) AS commit_timestamp, max(other_commit_timestamp) AS other_commit_timestamp
FROM sides
GROUP BY cluster_id, other_cluster_id, group_id, topic, `partition`
HAVING max(is_own) + max(is_other) = 1 OR max(committed_offset) <> max(other_committed_offset)
"""  # noqa: S608 - texts of our own

CLUSTER_DIFFERENCES = ViewDefinition(
    name="cluster_differences",
    meaning="A row for each offset, and each group, that differs between two clusters of the tables, whose topics are mirrored with "
    "the same offsets. Give both names: a condition on cluster_id and one on other_cluster_id, in either order; without them "
    "every cluster is compared with every other. A cluster that the tables do not know has no rows",
    columns=(
        CLUSTER_ID,
        required("other_cluster_id", "string", "The cluster that it is compared with"),
        GROUP_ID,
        *described(
            """
            topic? string The topic; null: the row is about the group itself, which one of the clusters does not have
            partition? int The partition; null: the row is about the group itself
            committed_offset? bigint The offset in cluster_id; null: none
            other_committed_offset? bigint The offset in other_cluster_id; null: none
            difference? bigint committed_offset minus other_committed_offset: above 0, other_cluster_id is behind; null: one of them has none
            missing_in? string The cluster that has no such offset or group; null: both have an offset
            commit_timestamp? timestamp Time of the commit in cluster_id; null: none
            other_commit_timestamp? timestamp Time of the commit in other_cluster_id; null: none. Shortly after a commit the copy may not be there yet
            """
        ),
    ),
    text=_TEXT,
    answers="Which groups and offsets would be missing, or others, after a failover to the other cluster?",
    example="SELECT group_id, topic, partition, committed_offset, other_committed_offset, difference, missing_in FROM cluster_differences "
    "WHERE cluster_id = 'eu-1' AND other_cluster_id = 'eu-2' ORDER BY group_id, topic, partition",
)
