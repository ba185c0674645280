"""The view topic_groups: the groups that read a topic."""

from __future__ import annotations

from group_coordinator.tables.views.definition import (
    CLUSTER_ID,
    COMMITTED_AT,
    GROUP_ID,
    TOPIC,
    ViewDefinition,
    described,
    is_offset,
)

TOPIC_GROUPS = ViewDefinition(
    name="topic_groups",
    meaning="A row for each topic and group that subscribes to it, has partitions of it assigned, or has committed offsets of it",
    columns=(
        *(CLUSTER_ID, TOPIC, GROUP_ID),
        *described(
            """
            group_type string classic or consumer; in a mirrored cluster also share or streams
            state string The group's state
            is_subscribed boolean True: a member subscribes to it, by name or by a pattern
            subscribed_members bigint Members that subscribe to it by name
            assigned_partitions bigint Partitions that members have
            committed_partitions bigint Partitions with a committed offset
            last_commit_at? timestamp Time of the last commit: its timestamp, or that of its record if earlier; null: nothing is committed
            """
        ),
    ),
    text=f"""
WITH signs AS (
  SELECT cluster_id, group_id, topic, 0 AS subscription, 0 AS member, 0 AS assigned, 1 AS committed,
    {COMMITTED_AT} AS commit_timestamp
  FROM $offsets
  WHERE {is_offset("committed_offset")}
  UNION ALL
  SELECT cluster_id, group_id, $explode(protected_topics) AS topic, 1, 0, 0, 0, NULL
  FROM $groups
  UNION ALL
  SELECT cluster_id, group_id, $explode(subscribed_topics) AS topic, 1, 1, 0, 0, NULL
  FROM $members
  UNION ALL
  SELECT cluster_id, group_id, held['topic'] AS topic, 0, 0, 1, 0, NULL
  FROM (SELECT cluster_id, group_id, $explode(assigned_partitions) AS held FROM $members) assignments
)
SELECT signs.cluster_id, signs.topic, signs.group_id, known.group_type, known.state,
  max(signs.subscription) = 1 AS is_subscribed, CAST(sum(signs.member) AS BIGINT) AS subscribed_members,
  CAST(sum(signs.assigned) AS BIGINT) AS assigned_partitions,
  CAST(sum(signs.committed) AS BIGINT) AS committed_partitions, max(signs.commit_timestamp) AS last_commit_at
FROM signs
JOIN $groups known ON known.cluster_id = signs.cluster_id AND known.group_id = signs.group_id
GROUP BY signs.cluster_id, signs.topic, signs.group_id, known.group_type, known.state
""",  # noqa: S608 - texts of our own
    answers="Which groups read a topic, and would miss it?",
    example="SELECT group_id, state, subscribed_members, assigned_partitions, last_commit_at FROM topic_groups "
    "WHERE topic = 'orders' ORDER BY group_id",
)
