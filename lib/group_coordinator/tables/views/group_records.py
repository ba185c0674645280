"""SQL for the records of groups in their order, each with the group's facts after it: the basis of several views.

A name may have several lives, in turn: each ends with the tombstone of its group, unless the tombstone
gives the name to a group of another type: reasons upgrade, downgrade, join, and mirrored, which has such a tombstone in
a mirrored log unless the group is unknown (mirror/inference.py) or has ended in a gap (mirror/continuity.py). Records of share and streams groups count as those of
consumer groups, and the oldest type of an offset record as the next.
"""

from __future__ import annotations

from group_coordinator.tables.views.definition import (
    any_text_in,
    escaped_text_in,
    number_in,
    number_of,
    text_in,
)

# More records than a batch has of one group. A batch's number has the other 35 bits: ten batches a second for a hundred
# years.
_MOST_OF_A_BATCH = 2**28
PLACE_IN_LOG = f"batch_id * {_MOST_OF_A_BATCH} + seq"
"""SQL for a record's place in the order of its group's log."""
_CONVERSIONS = "('upgrade', 'downgrade', 'join', 'mirrored', 'observed')"
EPOCHS = "(3, 11, 17)"
MEMBERS = "(5, 10, 19)"
_OF_GROUP = "PARTITION BY cluster_id, group_id ORDER BY batch_id, seq"
_OF_MEMBER = "PARTITION BY cluster_id, group_id, member_id ORDER BY batch_id, seq"
SO_FAR = f"({_OF_GROUP} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"

MEMBER_COUNT = number_of("value", "'\"memberId\":'")
_CLIENT = any_text_in("value", "clientId")
_SAME_CLIENT = f"""concat('"clientId":"', {escaped_text_in("value", "clientId")}, '"')"""
_CLIENT_COUNT = number_of("value", _SAME_CLIENT)
_HALF = 2147483648


def last_number_in(column: str, rows: str) -> str:
    """Return SQL for the last number of a column that is not null, of 32 bits; the rows have their `position`."""
    # DataFusion's last_value(...) IGNORE NULLS looks at all rows before, for each row: a long history takes minutes.
    return f"max(`position` * {2 * _HALF} + {column} + {_HALF}) OVER {rows} % {2 * _HALF} - {_HALF}"


def _last_text_in(column: str, rows: str) -> str:
    placed = f"concat(lpad(CAST(`position` AS STRING), 12, '0'), {column})"
    return f"substr(max(CASE WHEN {column} IS NOT NULL THEN {placed} END) OVER {rows}, 13)"


PLACE = f"""CASE
    WHEN record_type = 1 THEN {number_in("value", "markersEndOffset")}
    WHEN record_type = -1 THEN {number_in("value", "markerOffset")}
  END"""
"""SQL for the place of a marker in the brokers' log, and for the first place there that ends an offset of a
transaction; null: unknown.
"""

PRODUCER_ID = number_in("value", "producerId")
"""SQL for the producer of an offset of a transaction, or of a marker."""

# The values in JSON are extracted first, so that no engine sorts the texts.
_OF_EACH = f"""cluster_id, group_id, topic, `partition`, `offset`, reason, principal, event_time, batch_id, seq,
  {PLACE_IN_LOG} AS place_in_log,
  CASE
    WHEN record_type = 0 THEN 1
    WHEN record_type IN {EPOCHS} THEN 3
    WHEN record_type IN {MEMBERS} THEN 5
    ELSE record_type
  END AS record_type,
  CASE WHEN record_type IN (1, -1) THEN {PRODUCER_ID} END AS producer_id,
  {PLACE} AS marker_place,
  CASE WHEN record_type = -1 THEN {number_in("value", "sinceOffset")} END AS marker_since,
  CASE WHEN record_type IN (1, -1) THEN {number_in("value", "producerEpoch")} END AS producer_epoch"""
_PARSED = f"""
SELECT {_OF_EACH}, member_id, value IS NOT NULL AS has_value, coalesce(inferred, false) AS inferred,
  CASE
    WHEN record_type = 2 THEN {number_in("value", "generation")}
    WHEN record_type IN {EPOCHS} THEN {number_in("value", "epoch")}
  END AS generation_or_epoch,
  CASE
    WHEN record_type = 2 AND value IS NULL THEN 0
    WHEN record_type = 2 THEN {MEMBER_COUNT}
  END AS classic_members,
  CASE WHEN record_type = 2 THEN CASE WHEN {_CLIENT_COUNT} = {MEMBER_COUNT} THEN {_CLIENT} ELSE '' END END AS classic_client,
  CASE WHEN record_type IN {MEMBERS} THEN {_CLIENT} END AS consumer_client,
  coalesce(record_type = 5 AND value LIKE '%"sessionTimeoutMs":%', false) AS is_classic,
  CASE WHEN record_type IN (0, 1) THEN {text_in("value", "topicId")} END AS topic_id,
  CASE WHEN record_type = -2 THEN {text_in("key", "name")} END AS setting_name,
  CASE WHEN record_type = -2 THEN {text_in("value", "value")} END AS setting_value
FROM $coordinator_log
WHERE record_type IN (0, 1, 2, -1, -2) OR record_type IN {EPOCHS} OR record_type IN {MEMBERS}
"""  # noqa: S608 - texts of our own

OFFSET_RECORDS = f"SELECT {_OF_EACH} FROM $coordinator_log WHERE record_type IN (0, 1, -1)"  # noqa: S608 - texts of our own
"""The records of offsets and the markers, with the columns of GROUP_RECORDS that need no other record."""
# Only records of members are sorted for a comparison with the one before: most records are commits.
GROUP_RECORDS = f"""
SELECT counted.*,
  coalesce({last_number_in("classic_members", SO_FAR)}, 0)
    + sum(consumer_members) OVER {SO_FAR} AS member_count,
  coalesce({last_number_in("classic_members", SO_FAR)}, 0)
    + sum(CAST(is_classic AS INT) - CAST(was_classic AS INT)) OVER {SO_FAR} AS classic_member_count,
  coalesce({last_number_in("has_begun", SO_FAR)}, 0) = 1 AS is_managed,
  sum(ends_life) OVER {SO_FAR} - ends_life AS life,
  CASE
    WHEN sum(consumer_members) OVER {SO_FAR} = 0 THEN
      nullif({_last_text_in("classic_client", SO_FAR)}, '')
    WHEN min(consumer_client) OVER {SO_FAR} = max(consumer_client) OVER {SO_FAR} THEN
      max(consumer_client) OVER {SO_FAR}
  END AS client_id
FROM (
  SELECT placed.*,
    CASE
      WHEN record_type = 5 AND has_value AND NOT was_there THEN 1
      WHEN record_type = 5 AND NOT has_value AND was_there THEN -1
      ELSE 0
    END AS consumer_members,
    CASE
      WHEN record_type IN (2, 3) AND has_value AND generation_or_epoch > 0 THEN 1
      WHEN record_type IN (2, 3) THEN 0
    END AS has_begun,
    CASE
      WHEN record_type IN (2, 3) AND NOT has_value AND (reason NOT IN {_CONVERSIONS} OR (reason = 'mirrored' AND inferred)) THEN 1
      ELSE 0
    END AS ends_life
  FROM (
    SELECT parsed.*, row_number() OVER ({_OF_GROUP}) AS `position`
    FROM (
      SELECT members.*,
        coalesce(lag(has_value) OVER ({_OF_MEMBER}), false) AS was_there,
        coalesce(lag(is_classic) OVER ({_OF_MEMBER}), false) AS was_classic
      FROM ({_PARSED}) members
      WHERE record_type = 5
      UNION ALL
      SELECT others.*, false AS was_there, false AS was_classic FROM ({_PARSED}) others WHERE record_type <> 5
    ) parsed
  ) placed
) counted
"""  # noqa: S608 - texts of our own
"""Columns of coordinator_log without its texts, the numbers of the record (`place_in_log`: in the order of the log;
`marker_place`: PLACE; from `marker_since` on it is the first marker), its `position` in the group's log, and the facts
after it: `member_count`, `classic_member_count` (members of the classic protocol: only their records have a session
timeout), `is_managed` (it has had members: it is no simple group, which only stores offsets, nor does it wait for its
first rebalance, of which the log has nothing), `life`, counted from 0, and `client_id`, if all of its members have the
same (in a consumer group: all members that it ever had).
"""
