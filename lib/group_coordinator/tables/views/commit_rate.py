"""The view commit_rate: commits of groups per minute, and their progress."""

from __future__ import annotations

from group_coordinator.tables.views.definition import (
    CLUSTER_ID,
    GROUP_ID,
    TOPIC,
    ViewDefinition,
    is_offset,
    required,
)

# A larger step is a jump to an offset that a log may not have, and no reading. Sums of so many steps fit a bigint.
_MOST_READ = 1_000_000_000_000

COMMIT_RATE = ViewDefinition(
    name="commit_rate",
    meaning="A row for each minute in which a group committed offsets of a topic",
    columns=(
        *(CLUSTER_ID, GROUP_ID, TOPIC),
        required("minute", "timestamp", "The beginning of the minute"),
        required("commits", "bigint", "Number of committed offsets; each partition counts"),
        required("partitions", "bigint", "Number of partitions"),
        required(
            "advanced",
            "bigint",
            f"Sum of their steps forward; a first offset, a step back and a step of more than {_MOST_READ:,} count 0",
        ),
        required("commits_per_second", "double", "commits / 60"),
        required("offsets_per_second", "double", "advanced / 60: about records per second"),
    ),
    text=f"""
SELECT cluster_id, group_id, topic, `minute`, commits, partitions, advanced,
  CAST(commits AS DOUBLE) / 60 AS commits_per_second, CAST(advanced AS DOUBLE) / 60 AS offsets_per_second
FROM (
  SELECT cluster_id, group_id, topic, date_trunc('minute', at) AS `minute`, count(*) AS commits,
    count(DISTINCT `partition`) AS partitions,
    sum(CASE
      WHEN `after` <= `before` OR NOT {is_offset("`before`")} OR `before` IS NULL THEN 0
      WHEN `after` - `before` > {_MOST_READ} THEN 0
      ELSE `after` - `before`
    END) AS advanced
  FROM $offset_changes
  WHERE `after` IS NOT NULL
  GROUP BY cluster_id, group_id, topic, date_trunc('minute', at)
) minutes
""",  # noqa: S608 - texts of our own
    answers="How fast does a group read a topic, and when did it stop?",
    example="SELECT `minute`, commits, offsets_per_second FROM commit_rate "
    "WHERE group_id = 'billing' AND topic = 'orders' ORDER BY `minute` DESC LIMIT 60",
)
