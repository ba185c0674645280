"""The view lag: the number of records that groups are behind."""

from __future__ import annotations

from group_coordinator.tables.views.definition import (
    COMMITTED_AT,
    PARTITION_KEY,
    ViewDefinition,
    described,
    is_ahead,
    offset_or_null,
    optional,
)
from group_coordinator.tables.views.position_steps import POSITIONS_NOW
from group_coordinator.tables.views.share_offsets import SHARE_OFFSETS_NOW

COMMITTED_OFFSET = optional(
    "committed_offset",
    "bigint",
    "The next offset to read; of a share group the start offset, the first that it has not finished. Null: nothing was committed, a "
    "number below 0, which clients ignore, or a share group without a start offset",
)
LAG = optional(
    "lag",
    "bigint",
    "Offsets left to read: log_end_offset - committed_offset, or - log_start_offset if that is later; 0 if the commit is newer "
    "than the sample. Of a share group the lag that the broker reports, which leaves out finished records behind the start offset, "
    "if it is smaller. Null: committed_offset is null, the end is not known, or the end is before the committed offset (ahead)",
)


def _not_negative(number: str) -> str:
    return f"CASE WHEN {number} < 0 THEN 0 ELSE {number} END"


# A broker's lag of a share group is not that of the same moment as the end, and may include lost records. No end, no lag.
_LEFT = "CASE WHEN own.log_end_offset IS NOT NULL THEN least(own.share_lag, own.log_end_offset - own.place) END"
_IS_AHEAD = is_ahead("committed_offset", "commit_timestamp", "log_end_offset", "sampled_at")

# Rows of three kinds come together in one aggregation: each has its part of a partition's facts.
_TEXT = f"""
WITH share_offsets AS ({SHARE_OFFSETS_NOW}),
topics AS (
  SELECT cluster_id, group_id, topic, max(subscription) = 1 AS is_subscribed
  FROM (
    SELECT cluster_id, group_id, topic, 0 AS subscription FROM $offsets
    UNION ALL
    SELECT cluster_id, group_id, topic, 0 FROM share_offsets
    UNION ALL
    SELECT cluster_id, group_id, $explode(protected_topics) AS topic, 1 FROM $groups
    UNION ALL
    SELECT cluster_id, group_id, $explode(subscribed_topics) AS topic, 1 FROM $members
    UNION ALL
    SELECT cluster_id, group_id, held['topic'] AS topic, 1
    FROM (SELECT cluster_id, group_id, $explode(assigned_partitions) AS held FROM $members) assignments
  ) named
  GROUP BY cluster_id, group_id, topic
),
readable AS (
  SELECT cluster_id, group_id FROM $members GROUP BY cluster_id, group_id HAVING count(*) = count(subscribed_topics)
),
signs AS (
  SELECT cluster_id, group_id, topic, `partition`, {offset_or_null("committed_offset")} AS committed_offset,
    {COMMITTED_AT} AS commit_timestamp, NULL AS member_id, NULL AS log_start_offset, NULL AS log_end_offset,
    NULL AS last_stable_offset, NULL AS sampled_at, NULL AS share_lag
  FROM $offsets
  UNION ALL
  SELECT cluster_id, group_id, topic, `partition`, start_offset, NULL, NULL, NULL, NULL, NULL, NULL, lag
  FROM share_offsets
  UNION ALL
  SELECT cluster_id, group_id, held['topic'], held['partition'], NULL, NULL, member_id, NULL, NULL, NULL, NULL, NULL
  FROM (
    SELECT cluster_id, group_id, member_id, $explode(assigned_partitions) AS held FROM $members
  ) assignments
  WHERE held['topic'] IS NOT NULL
  UNION ALL
  SELECT topics.cluster_id, topics.group_id, topics.topic, ends.`partition`, NULL, NULL, NULL,
    ends.log_start_offset, ends.log_end_offset, ends.last_stable_offset, ends.sampled_at, NULL
  FROM topics
  JOIN ({POSITIONS_NOW}) ends ON ends.cluster_id = topics.cluster_id AND ends.topic = topics.topic
),
partitions AS (
  SELECT cluster_id, group_id, topic, `partition`, max(committed_offset) AS committed_offset,
    max(commit_timestamp) AS commit_timestamp, min(member_id) AS member_id, max(log_start_offset) AS log_start_offset,
    max(log_end_offset) AS log_end_offset, max(last_stable_offset) AS last_stable_offset,
    max(sampled_at) AS sampled_at, max(share_lag) AS share_lag
  FROM signs
  GROUP BY cluster_id, group_id, topic, `partition`
),
places AS (
  SELECT partitions.*,
    CASE WHEN {_IS_AHEAD} THEN NULL WHEN committed_offset < log_start_offset THEN log_start_offset ELSE committed_offset END AS place
  FROM partitions
)
SELECT own.cluster_id, own.group_id, own.topic, own.`partition`, own.committed_offset, own.log_end_offset,
  {_not_negative(_LEFT)} AS lag,
  {_not_negative(f"coalesce({_LEFT}, CASE WHEN known.group_type <> 'share' THEN own.log_end_offset - own.log_start_offset END)")} AS lag_from_start,
  own.member_id, holder.client_id, holder.client_host, own.log_start_offset,
  {_not_negative(f"{_LEFT} - (own.log_end_offset - own.last_stable_offset)")} AS lag_to_stable,
  own.log_end_offset - own.last_stable_offset AS held_back, own.sampled_at,
  {_not_negative("own.log_start_offset - own.committed_offset")} AS lost,
  CASE WHEN own.place IS NULL THEN own.committed_offset - own.log_end_offset END AS ahead,
  CASE WHEN readable.group_id IS NOT NULL THEN topics.is_subscribed END AS is_subscribed
FROM places own
JOIN topics
  ON topics.cluster_id = own.cluster_id AND topics.group_id = own.group_id AND topics.topic = own.topic
LEFT JOIN readable ON readable.cluster_id = own.cluster_id AND readable.group_id = own.group_id
JOIN $groups known
  ON known.cluster_id = own.cluster_id AND known.group_id = own.group_id
LEFT JOIN $members holder
  ON holder.cluster_id = own.cluster_id AND holder.group_id = own.group_id
  AND holder.member_id = own.member_id
"""  # noqa: S608 - texts of our own

LAG_NOW = ViewDefinition(
    name="lag",
    meaning="A row for each group and partition that is assigned, is committed, or belongs to a subscribed or committed topic; ends, and the start offsets of share groups, are those of the newest samples",
    columns=(
        *(*PARTITION_KEY, COMMITTED_OFFSET),
        optional(
            "log_end_offset",
            "bigint",
            "The end of the log; null: no sample of the last five minutes before the cluster's newest sample has the partition, so that the topic is deleted, or not sampled",
        ),
        LAG,
        optional(
            "lag_from_start",
            "bigint",
            "As lag, but all offsets of the log if nothing was committed, or if the log ends before the committed offset; "
            "null: the end is not known, or a share group has no start offset, as it may begin at the end of the log",
        ),
        *described(
            """
            member_id? string The member that owns the partition; members of a share group may have the same partition, here is the first of them by id. Null: no member
            client_id? string The member's client id
            client_host? string The address of the member's client
            log_start_offset? bigint The first offset that can still be read
            lag_to_stable? bigint As lag, without held_back: the offsets that a read_committed consumer can read by now
            held_back? bigint Offsets between the last stable offset and the end: a read_committed consumer cannot read them while a transaction is open
            sampled_at? timestamp Time of the sample; null: the ends are not known
            """
        ),
        optional(
            "lost",
            "bigint",
            "Offsets from committed_offset to log_start_offset, which were removed before the group read them; a share group may have "
            "finished some of them. Null: as lag, but 0 if the end is before the committed offset",
        ),
        optional(
            "ahead",
            "bigint",
            "committed_offset - log_end_offset, if a sample more than ten seconds later than the commit has the smaller end: the log "
            "was cut, or the topic was created again. Null otherwise",
        ),
        optional(
            "is_subscribed",
            "boolean",
            "True: a member subscribes to the topic, or has a partition of it; null: the group has no members, or the subscription of a member is not readable",
        ),
    ),
    text=_TEXT,
    answers="How many records are groups behind, and which client should read them?",
    example="SELECT topic, `partition`, committed_offset, log_end_offset, lag, client_id FROM lag "
    "WHERE group_id = 'billing' ORDER BY topic, `partition`",
)
