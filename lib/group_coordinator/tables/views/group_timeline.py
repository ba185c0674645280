"""The view group_timeline: the changes of a group."""

from __future__ import annotations

from group_coordinator.tables.views.definition import (
    BATCH_ID,
    CLUSTER_ID,
    GROUP_ID,
    INFERRED,
    SEQ,
    ViewDefinition,
    described,
    required,
)
from group_coordinator.tables.views.group_records import GROUP_RECORDS, last_number_in

_OF_LIFE = (
    "(PARTITION BY cluster_id, group_id, life ORDER BY batch_id, seq "
    "ROWS BETWEEN UNBOUNDED PRECEDING AND "
)

# Kafka converts a group with members in one append, so its records have one timestamp: first the tombstone of the old
# type, then the members, then the group of the new type. Only after the last of them has the group its members again,
# and their records mean no join or leave. A group without members gets its new type's record later.
_TEXT = f"""
WITH records AS ({GROUP_RECORDS}),
lives AS (
  SELECT numbered.*,
    row_number() OVER (
      PARTITION BY cluster_id, group_id, life ORDER BY CASE WHEN record_type <> -2 AND has_value THEN 0 ELSE 1 END, batch_id, seq
    ) AS place,
    {last_number_in("generation_or_epoch", _OF_LIFE + "CURRENT ROW)")} AS last_generation,
    {last_number_in("classic_generation", _OF_LIFE + "1 PRECEDING)")} AS generation_before,
    coalesce({last_number_in("is_group", _OF_LIFE + "1 PRECEDING)")} = 0, false) AS follows_tombstone
  FROM (
    SELECT records.*,
      CASE WHEN record_type = 2 THEN generation_or_epoch END AS classic_generation,
      CASE WHEN record_type IN (2, 3) THEN CAST(has_value AS INT) END AS is_group
    FROM records
  ) numbered
),
conversions AS (
  SELECT cluster_id, group_id, event_time
  FROM $coordinator_log
  WHERE record_type IN (2, 3, 17) AND reason IN ('mirrored', 'observed')
  GROUP BY cluster_id, group_id, event_time
  HAVING count(DISTINCT record_type) = 2
),
told AS (
  SELECT lives.*, 'created' AS what, reason AS detail
  FROM lives
  WHERE place = 1 AND record_type <> -2 AND has_value
  UNION ALL
  SELECT lives.*,
    CASE
      WHEN record_type = -2 THEN 'setting'
      WHEN record_type = 5 AND NOT has_value AND reason = 'session-timeout' THEN 'timed-out'
      WHEN record_type = 5 AND NOT has_value AND reason = 'rebalance-timeout' THEN 'timed-out'
      WHEN record_type = 5 AND NOT has_value THEN 'left'
      WHEN record_type = 5 AND was_there THEN 'member-changed'
      WHEN record_type = 5 THEN 'joined'
      WHEN NOT has_value AND reason = 'group-expired' THEN 'expired'
      WHEN NOT has_value AND ends_life = 0 AND reason IN ('mirrored', 'observed') AND conversions.group_id IS NULL THEN NULL
      WHEN NOT has_value AND ends_life = 0 AND reason = 'join' THEN 'converted'
      WHEN NOT has_value AND ends_life = 0 THEN NULL
      WHEN NOT has_value THEN 'deleted'
      WHEN follows_tombstone AND (reason IN ('upgrade', 'downgrade') OR conversions.group_id IS NOT NULL) THEN 'converted'
      WHEN member_count = 0 THEN 'emptied'
      WHEN record_type = 2 AND generation_or_epoch = generation_before THEN 'member-changed'
      ELSE 'rebalanced'
    END AS what,
    CASE
      WHEN record_type = -2 AND NOT has_value THEN concat(setting_name, ' taken back')
      WHEN record_type = -2 THEN concat(setting_name, ' = ', setting_value)
      WHEN record_type = 5 THEN concat(member_id, ': ', reason)
      ELSE reason
    END AS detail
  FROM lives
  LEFT JOIN conversions
    ON conversions.cluster_id = lives.cluster_id AND conversions.group_id = lives.group_id
    AND conversions.event_time = lives.event_time
  WHERE record_type IN (2, 3, -2)
    OR (record_type = 5 AND reason NOT IN ('upgrade', 'downgrade', 'group-deleted', 'group-expired') AND (reason NOT IN ('mirrored', 'observed') OR conversions.group_id IS NULL))
)
SELECT cluster_id, group_id, event_time AS at, what, CAST(member_count AS INT) AS members,
  CAST(last_generation AS INT) AS generation_or_epoch,
  CASE
    WHEN what <> 'converted' THEN detail
    WHEN has_value = (record_type = 3) THEN concat('to a consumer group: ', detail)
    ELSE concat('to a classic group: ', detail)
  END AS detail,
  inferred, batch_id, seq, CAST(classic_member_count AS INT) AS classic_members
FROM told
WHERE what IS NOT NULL AND NOT (what = 'emptied' AND (place = 1 OR (record_type = 2 AND generation_or_epoch = 0)))
"""  # noqa: S608 - texts of our own

GROUP_TIMELINE = ViewDefinition(
    name="group_timeline",
    meaning="A row for each change of a group, through all lives of its name",
    columns=(
        *(CLUSTER_ID, GROUP_ID),
        *described(
            """
            at timestamp Event time, by the group's clock
            what string created; rebalanced: a new generation or epoch; emptied: its last member was removed; converted: classic to consumer or back; member-changed: a member was replaced, without a rebalance; deleted, expired: its end; setting: a group configuration. Of consumer groups also joined, left, timed-out: a member
            members int Members after the change
            generation_or_epoch? int The generation or epoch after the change; null: none, as the group only stores offsets
            detail string The reason of the log's record; with the member, or the setting
            """
        ),
        *(INFERRED, BATCH_ID, SEQ),
        required(
            "classic_members",
            "int",
            "How many of `members` use the classic protocol: all in a classic group, and those that an upgrade kept",
        ),
    ),
    text=_TEXT,
    answers="What happened to a group last night?",
    example="SELECT at, what, members, generation_or_epoch, detail FROM group_timeline "
    "WHERE group_id = 'billing' ORDER BY batch_id, seq",
)
