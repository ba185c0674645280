"""The view lost_offsets: committed offsets that were removed."""

from __future__ import annotations

from group_coordinator.tables.views.definition import (
    INFERRED,
    PARTITION_KEY,
    PRINCIPAL,
    ViewDefinition,
    is_offset,
    optional,
    required,
)
from group_coordinator.tables.views.offset_changes import CHANGES_OF_LOST

LOST_OFFSETS = ViewDefinition(
    name="lost_offsets",
    meaning="A row each time that a committed offset was lost, also if the partition was committed again",
    columns=(
        *PARTITION_KEY,
        required("last_offset", "bigint", "The offset that was lost"),
        required("lost_at", "timestamp", "Event time, by the group's clock"),
        required(
            "reason",
            "string",
            "offset-expired, offset-deleted, group-deleted or topic-deleted; mirrored, or observed by polls: not known",
        ),
        *(INFERRED, PRINCIPAL),
        optional(
            "committed_again_at",
            "timestamp",
            "Time of the group's next commit of the partition; null: still lost",
        ),
    ),
    text=f"""
SELECT cluster_id, group_id, topic, `partition`, `before` AS last_offset, at AS lost_at, reason,
  inferred, principal, next_at AS committed_again_at
FROM (
  SELECT changes.*,
    lead(at) OVER (
      PARTITION BY cluster_id, group_id, topic, `partition` ORDER BY batch_id, seq
    ) AS next_at
  FROM ({CHANGES_OF_LOST}) changes
  WHERE {is_offset("coalesce(`after`, `before`)")}
) followed
WHERE `after` IS NULL
""",  # noqa: S608 - texts of our own
    answers="Which offsets are lost, since when, and why?",
    example="SELECT topic, `partition`, last_offset, lost_at, reason, principal FROM lost_offsets "
    "WHERE group_id = 'billing' AND committed_again_at IS NULL ORDER BY lost_at DESC",
)
