"""The view offset_changes: every change of a committed offset when it took effect. Other views are based on it."""

from __future__ import annotations

from group_coordinator.tables.views.definition import (
    BATCH_ID,
    INFERRED,
    PARTITION_KEY,
    PRINCIPAL,
    SEQ,
    ViewDefinition,
    described,
    optional,
    required,
)
from group_coordinator.tables.views.group_records import GROUP_RECORDS, OFFSET_RECORDS
from group_coordinator.tables.views.position_steps import since

_OF_PRODUCER = "PARTITION BY cluster_id, group_id, producer_id"
_TO_HERE = "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"

_OF_GROUP = "(PARTITION BY cluster_id, group_id ORDER BY topic, `partition`, batch_id, seq)"
# In DataFusion each partition of a window costs microseconds, and groups are fewer than their partitions.

_COUNTS = """(marker.reason = 'transaction-committed'
        AND coalesce(own.producer_epoch, marker.producer_epoch, 0) = coalesce(marker.producer_epoch, own.producer_epoch, 0))"""
# A fenced producer's offsets do not count.

_FIRST = f"""min(
      CASE WHEN record_type = -1 AND marker_place IS NOT NULL THEN concat(
        lpad(CAST(marker_place AS STRING), 20, '0'), lpad(CAST(coalesce(marker_since, 0) AS STRING), 20, '0'),
        CAST(place_in_log AS STRING)
      ) END
    ) OVER ({_OF_PRODUCER} ORDER BY marker_place DESC, record_type, place_in_log DESC {_TO_HERE})"""
# Its marker_place, its marker_since, and the place in our log of the nearest marker there. DataFusion's
# first_value(...) IGNORE NULLS would look at all rows, for each row.

# A pending offset waits for its producer's marker, the first at its place or behind it if it has a place. It counts
# from there on, if the marker commits, unless a later offset counts already by then (core/offsets/pending.py). Later
# records are searched from the last record back: for a window up to UNBOUNDED FOLLOWING Spark looks at all rows behind,
# for each row. Most logs have few transactions, so only their partitions are sorted for that.
_ENDED = f"""
WITH records AS ({OFFSET_RECORDS}),
markers AS (
  SELECT records.*,
    min(CASE WHEN record_type = -1 THEN place_in_log END) OVER (
      {_OF_PRODUCER} ORDER BY place_in_log DESC {_TO_HERE}
    ) AS next_marker,
    min(CASE WHEN record_type = -1 AND marker_place IS NULL THEN place_in_log END) OVER (
      {_OF_PRODUCER} ORDER BY place_in_log DESC {_TO_HERE}
    ) AS next_without_place,
    {_FIRST} AS first_placed
  FROM records
  WHERE record_type = -1 OR (record_type = 1 AND producer_id IS NOT NULL)
),
placed AS (
  SELECT markers.*,
    CASE
      WHEN CAST(substr(first_placed, 21, 20) AS BIGINT) > marker_place THEN NULL
      WHEN CAST(substr(first_placed, 41) AS BIGINT) < place_in_log THEN next_marker
      ELSE CAST(substr(first_placed, 41) AS BIGINT)
    END AS own_marker
  FROM markers
),
ends AS (
  SELECT placed.*,
    CASE
      WHEN marker_place IS NULL THEN next_marker
      ELSE least(coalesce(own_marker, next_without_place), coalesce(next_without_place, own_marker))
    END AS end_place
  FROM placed
),
pending AS (
  SELECT own.cluster_id, own.group_id, own.topic, own.`partition`, own.place_in_log, own.end_place,
    marker.reason, marker.principal, marker.event_time AS at, marker.batch_id, marker.seq, {_COUNTS} AS counts
  FROM ends own
  JOIN (SELECT * FROM records WHERE record_type = -1) marker
    ON marker.cluster_id = own.cluster_id AND marker.group_id = own.group_id
    AND marker.place_in_log = own.end_place
  WHERE own.record_type = 1
),
contested AS (
  SELECT own.cluster_id, own.group_id, own.place_in_log, pending.end_place, pending.reason, pending.principal, pending.at,
    pending.batch_id, pending.seq, pending.counts,
    min(CASE WHEN own.producer_id IS NULL THEN own.place_in_log WHEN counts THEN end_place END) OVER (
      PARTITION BY own.cluster_id, own.group_id, own.topic, own.`partition` ORDER BY own.place_in_log DESC
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS superseded_place
  FROM (
    SELECT every.cluster_id, every.group_id, every.topic, every.`partition`, every.place_in_log, every.producer_id
    FROM records every
    JOIN (SELECT DISTINCT cluster_id, group_id, topic, `partition` FROM pending) partitions
      ON partitions.cluster_id = every.cluster_id AND partitions.group_id = every.group_id
      AND partitions.topic = every.topic AND partitions.`partition` = every.`partition`
    WHERE every.record_type = 1
  ) own
  LEFT JOIN pending
    ON pending.cluster_id = own.cluster_id AND pending.group_id = own.group_id AND pending.place_in_log = own.place_in_log
),
ended AS (
  SELECT * FROM contested WHERE counts AND (superseded_place IS NULL OR superseded_place > end_place)
)"""  # noqa: S608 - texts of our own

_OFFSETS_THAT_COUNT = """
  LEFT JOIN ended
    ON ended.cluster_id = own.cluster_id AND ended.group_id = own.group_id AND ended.place_in_log = own.place_in_log
  WHERE own.record_type = 1 AND (own.producer_id IS NULL OR ended.place_in_log IS NOT NULL)"""


def _changes_of(records: str) -> str:
    return f"""
{_ENDED},
effective AS (
  SELECT changes.*,
    CASE
      WHEN lag(topic) OVER {_OF_GROUP} = topic AND lag(`partition`) OVER {_OF_GROUP} = `partition` THEN lag(`offset`) OVER {_OF_GROUP}
    END AS `before`
  FROM (
    SELECT own.cluster_id, own.group_id, own.topic, own.`partition`, own.`offset`, own.producer_id,
      own.member_count, own.is_managed, own.client_id, own.inferred,
      coalesce(ended.reason, own.reason) AS reason, coalesce(ended.principal, own.principal) AS principal,
      coalesce(ended.at, own.event_time) AS at, coalesce(ended.batch_id, own.batch_id) AS batch_id,
      coalesce(ended.seq, own.seq) AS seq
    FROM {records}{_OFFSETS_THAT_COUNT}
  ) changes
)
SELECT cluster_id, group_id, topic, `partition`, `before`, `offset` AS `after`, at, reason, principal,
  CASE
    WHEN `offset` IS NULL OR NOT is_managed THEN NULL
    WHEN member_count > 0 THEN true
    WHEN producer_id IS NULL THEN false
  END AS by_member,
  CASE WHEN `offset` IS NOT NULL AND is_managed AND member_count > 0 THEN client_id END AS client_id,
  inferred, batch_id, seq
FROM effective
WHERE `before` IS NOT NULL OR `offset` IS NOT NULL
"""  # noqa: S608 - texts of our own


_ALL = f"({GROUP_RECORDS}) own"
_TEXT = _changes_of(_ALL)
CHANGES_OF_LOST = _changes_of(f"""{_ALL}
    JOIN (
      SELECT DISTINCT cluster_id, group_id, topic, `partition`
      FROM $coordinator_log
      WHERE record_type IN (0, 1) AND `offset` IS NULL
    ) lossy
      ON lossy.cluster_id = own.cluster_id AND lossy.group_id = own.group_id
      AND lossy.topic = own.topic AND lossy.`partition` = own.`partition`""")  # noqa: S608 - texts of our own
"""SQL for the rows of offset_changes of partitions that ever lost their offset: all rows of a partition are sorted, and most never do."""

OFFSET_CHANGES = ViewDefinition(
    name="offset_changes",
    meaning="A row for each change of a committed offset, ordinary commits too; an offset of a transaction counts from the transaction's end on",
    columns=(
        *PARTITION_KEY,
        optional("before", "bigint", "The offset before; null: there was none"),
        optional("after", "bigint", "The offset after; null: it was lost"),
        required("at", "timestamp", "Event time, by the group's clock"),
        required("reason", "string", "The reason of the log's record"),
        PRINCIPAL,
        *described(
            """
            by_member? boolean true: the group has members, and then only members can commit. false: the group had members and has none now, so that the committer was no member. Null: not known, as in a group that only stores offsets; or no commit
            client_id? string The client id, if a member committed and all members have the same id (in a consumer group: all members that it ever had). Null: not known
            """
        ),
        *(INFERRED, BATCH_ID, SEQ),
    ),
    text=_TEXT,
    answers="Which offsets did a partition have, in order?",
    example="SELECT `before`, `after`, at, reason FROM offset_changes "
    "WHERE group_id = 'billing' AND topic = 'orders' AND `partition` = 0 ORDER BY batch_id, seq",
)


RECENT_HOURS = 6

# A condition with a single time value skips rows before the sort; a reader applies each cluster's own time.
_RECENT_LOG = f"""
WITH recent_log AS (
  SELECT *
  FROM $coordinator_log
  WHERE event_time >= {since(f"INTERVAL '{RECENT_HOURS}' HOUR")}
)"""  # noqa: S608 - texts of our own


def _of_recent_log(text: str) -> str:
    return f"{_RECENT_LOG} SELECT * FROM ({text.replace('$coordinator_log', 'recent_log')}) recent"  # noqa: S608 - texts of our own


RECENT_OFFSETS = _of_recent_log(
    f"""{_ENDED}
SELECT own.cluster_id, own.group_id, own.topic, own.`partition`, own.`offset`, coalesce(ended.at, own.event_time) AS at,
  coalesce(ended.end_place, own.place_in_log) AS place
FROM records own{_OFFSETS_THAT_COUNT}"""  # noqa: S608 - texts of our own
)
"""SQL for the rows of recent_changes without `before`, for which all rows have to be sorted; `place` is their order."""

RECENT_CHANGES = ViewDefinition(
    name="recent_changes",
    meaning=f"As offset_changes, but only from {RECENT_HOURS} hours before the newest sample on (of the cluster sampled longest ago); `before` is null "
    "at their beginning, `by_member` where they have no record of the group, and a transaction that began earlier is left out",
    columns=OFFSET_CHANGES.columns,
    text=_of_recent_log(_TEXT),
    answers="Which commits are the newest?",
    example="SELECT group_id, topic, `partition`, `before`, `after`, at FROM recent_changes "
    "WHERE topic = 'orders' ORDER BY at DESC LIMIT 20",
)
