"""Which rows of coordinator_log stay when it grows old.

A row goes if it is an ordinary commit between two others of its partition, in the same hour (or day): by a member, or by a
group that has none and never had, forward, outside of transactions, by the same principal, in the same life of the group,
of the same topic id. So each hour keeps its first and its last commit, and whatever the views call a change - audit,
lost_offsets, group_timeline, expiring_soon - keeps its own row and the one before it. As in a log that Kafka has
compacted, what is left makes the same state.
"""

from __future__ import annotations

from string import Template

from group_coordinator.tables.history.rule import Cut
from group_coordinator.tables.views.definition import Dialect, floor_of
from group_coordinator.tables.views.group_records import GROUP_RECORDS
from group_coordinator.tables.views.position_steps import micros

SORTED_FILE_BYTES = 20 * 1024 * 1024
"""The size of files that are written sorted: the smaller, the fewer groups are in one."""
GATHERED_FILE_BYTES = 16 * 1024 * 1024
"""To what size OPTIMIZE puts files together from then on: it leaves alone what is sorted."""

_OF_PARTITION = "PARTITION BY cluster_id, group_id, topic, `partition` ORDER BY batch_id, seq"
_OF_BOTH_NEIGHBOURS = ("stretch", "life", "principal", "topic_id")
"""What a commit must have in common with the one before it and with the one behind it."""


def _beside(column: str) -> str:
    """Columns with the value in the row before, and in the row behind."""
    return (
        f"lag({column}) OVER ({_OF_PARTITION}) AS {column}_before, "
        f"lead({column}) OVER ({_OF_PARTITION}) AS {column}_behind"
    )


def _is_beside(column: str) -> str:
    return " AND ".join(
        f"({column} IS NOT DISTINCT FROM {column}_{place})" for place in ("before", "behind")
    )


# Not date_trunc: DataFusion computes hours in nanoseconds of 64 bits, which end in 1677 and 2262.
_TIME = micros("event_time")
_TEXT = f"""
WITH records AS ({GROUP_RECORDS}),
commits AS (
  SELECT cluster_id, group_id, batch_id, seq, topic, `partition`, `offset` AS committed, life, principal, topic_id,
    has_value AND producer_id IS NULL AND reason IN ('offset-commit', 'mirrored')
      AND (member_count > 0 OR NOT is_managed) AS is_ordinary,
    CASE
      WHEN event_time < $instant($daily_us) THEN {floor_of(_TIME, 86_400_000_000)}
      WHEN event_time < $instant($hourly_us) THEN {floor_of(_TIME, 3_600_000_000)}
    END AS stretch
  FROM records
  WHERE record_type = 1
),
placed AS (
  SELECT commits.*, {", ".join(map(_beside, ("is_ordinary", "committed", *_OF_BOTH_NEIGHBOURS)))}
  FROM commits
),
gone AS (
  SELECT cluster_id, group_id, batch_id, seq
  FROM placed
  WHERE is_ordinary AND is_ordinary_before AND is_ordinary_behind AND stretch IS NOT NULL
    AND committed_before <= committed AND committed <= committed_behind
    AND {" AND ".join(map(_is_beside, _OF_BOTH_NEIGHBOURS))}
)
SELECT log.*
FROM $coordinator_log log
LEFT ANTI JOIN gone
  ON gone.cluster_id = log.cluster_id AND gone.group_id = log.group_id
  AND gone.batch_id = log.batch_id AND gone.seq = log.seq AND log.record_type = 1
"""  # noqa: S608 - texts of our own


def thinned_log(log: str, cut: Cut, dialect: Dialect) -> str:
    """SQL for the rows that stay, of a table or view that has the log's rows before `cut.closed_ms`."""
    times = {"hourly_us": cut.hourly_ms * 1_000, "daily_us": cut.daily_ms * 1_000}
    given = {"coordinator_log": log, **times, **dialect._asdict()}
    return Template(_TEXT).substitute(given).strip()
