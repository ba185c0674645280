"""The view expiring_soon: the expiration of offsets, and the protection of the others."""

from __future__ import annotations

from group_coordinator.tables.views.definition import (
    PARTITION_KEY,
    ViewDefinition,
    is_offset,
    number_in,
    optional,
    required,
)
from group_coordinator.tables.views.group_records import PLACE

# A marker without a place ends all pending offsets of its producer.
_BEHIND_ALL = 2**63 - 1

# An open transaction holds the partitions that it has offsets for, even if these offsets no longer count
# (core/offsets/expiration.py). The state tables do not have it, the log has. Later records are searched from the last
# record back: for a window up to UNBOUNDED FOLLOWING Spark looks at all rows behind, for each row.
_TEXT = f"""
WITH records AS (
  SELECT cluster_id, group_id, topic, `partition`, batch_id, seq, value, record_type,
    {number_in("value", "producerId")} AS producer_id, {PLACE} AS marker_place
  FROM $coordinator_log
  WHERE (record_type IN (1, -1) AND value NOT LIKE '%}}}}' AND value LIKE '%"producerId":%')
    OR (record_type = 1 AND value IS NULL)
),
ends AS (
  SELECT records.*,
    max(CASE WHEN record_type = -1 THEN coalesce(marker_place, {_BEHIND_ALL}) END) OVER (
      PARTITION BY cluster_id, group_id, producer_id ORDER BY batch_id DESC, seq DESC
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS last_place,
    max(CASE WHEN value IS NULL THEN 1 END) OVER (
      PARTITION BY cluster_id, group_id, topic, `partition` ORDER BY batch_id DESC, seq DESC
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS is_forgotten
  FROM records
),
held AS (
  SELECT DISTINCT cluster_id, group_id, topic, `partition`
  FROM ends
  WHERE record_type = 1 AND is_forgotten IS NULL AND (last_place IS NULL OR last_place < marker_place)
)
SELECT own.cluster_id, own.group_id, own.topic, own.`partition`, own.committed_offset,
  CASE WHEN held.topic IS NULL THEN own.expires_at END AS expires_at,
  CASE
    WHEN held.topic IS NOT NULL THEN 'transaction'
    WHEN own.expires_at IS NOT NULL THEN NULL
    WHEN known.expiration_base = 'never' THEN 'members'
    ELSE 'subscription'
  END AS protected_by
FROM $offsets own
LEFT JOIN $groups known ON known.cluster_id = own.cluster_id AND known.group_id = own.group_id
LEFT JOIN held
  ON held.cluster_id = own.cluster_id AND held.group_id = own.group_id
  AND held.topic = own.topic AND held.`partition` = own.`partition`
WHERE {is_offset("own.committed_offset")}
"""  # noqa: S608 - texts of our own

EXPIRING_SOON = ViewDefinition(
    name="expiring_soon",
    meaning="A row for each committed offset: its expiration, unless it is committed again, or its protection; the query chooses the time",
    columns=(
        *PARTITION_KEY,
        required("committed_offset", "bigint", "The next offset that the group reads"),
        optional("expires_at", "timestamp", "Time of expiration; null: the offset is protected"),
        optional(
            "protected_by",
            "string",
            "subscription: a member subscribes to the topic; members: the group has members, and is no group of consumers with known topics; transaction: an open transaction has an offset for the partition. Null: not protected",
        ),
    ),
    text=_TEXT,
    answers="Which offsets expire by tomorrow without another commit?",
    example="SELECT group_id, topic, `partition`, committed_offset, expires_at FROM expiring_soon "
    "WHERE expires_at < now() + INTERVAL '1' DAY ORDER BY expires_at",
)
