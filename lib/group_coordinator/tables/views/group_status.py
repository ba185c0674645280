"""The view group_status: the worst status of each group's partitions."""

from __future__ import annotations

from group_coordinator.tables.views.definition import (
    CLUSTER_ID,
    GROUP_ID,
    ViewDefinition,
    described,
    optional,
    total_of,
)
from group_coordinator.tables.views.labels import LABEL_COLUMNS, labelled

# LOSS is first: the other statuses threaten, here records are gone, and more follow until the group has passed the log's start. A
# group that has stopped loses its records in the end: LOSS says that this has begun, and silent_seconds that it has stopped.
FROM_BAD_TO_GOOD = (
    "LOSS",
    "STOP",
    "STALL",
    "AHEAD",
    "REWIND",
    "WARN",
    "HELD",
    "OK",
    "UNSUBSCRIBED",
)
_RANKS = " ".join(f"WHEN '{status}' THEN {rank}" for rank, status in enumerate(FROM_BAD_TO_GOOD))
RANK = f"CASE status {_RANKS} END"
"""SQL for a status' place in FROM_BAD_TO_GOOD."""
_STATUS = " ".join(f"WHEN {rank} THEN '{status}'" for rank, status in enumerate(FROM_BAD_TO_GOOD))

_STATES = f"""
SELECT cluster_id, group_id, CASE min({RANK}) {_STATUS} END AS status,
  {total_of("lag")} AS total_lag, max(lag) AS max_lag,
  max(CASE WHEN place = 1 AND lag IS NOT NULL THEN topic END) AS max_lag_topic,
  max(CASE WHEN place = 1 AND lag IS NOT NULL THEN `partition` END) AS max_lag_partition,
  count(CASE WHEN sampled_at IS NULL THEN committed_offset END) AS unknown_partitions
FROM (
  SELECT states.*,
    row_number() OVER (
      PARTITION BY cluster_id, group_id ORDER BY lag DESC NULLS LAST, topic, `partition`
    ) AS place
  FROM $partition_status states
) placed
GROUP BY cluster_id, group_id
"""  # noqa: S608 - texts of our own

GROUP_STATUS = ViewDefinition(
    name="group_status",
    meaning="A row for each group with rows in lag: the worst status of its partitions, its lag, and its labels",
    columns=(
        *(CLUSTER_ID, GROUP_ID),
        optional(
            "status",
            "string",
            "From bad to good " + ", ".join(FROM_BAD_TO_GOOD) + "; null: no partition has a status",
        ),
        *described(
            """
            total_lag? bigint Sum over the partitions with a known lag, at most 9,223,372,036,854,775,807; null: no lag is known
            max_lag? bigint The largest of them
            max_lag_topic? string The topic of max_lag; of equal topics the first
            max_lag_partition? int The partition of max_lag; of equal partitions the first
            unknown_partitions bigint Committed partitions without a known end, which do not count here
            """
        ),
        *LABEL_COLUMNS,
    ),
    text=f"""
SELECT cluster_id, group_id, status, total_lag, max_lag, max_lag_topic, max_lag_partition, unknown_partitions,
  owner, tier, objective_seconds
FROM ({labelled(_STATES)}) labelled
""",  # noqa: S608 - texts of our own
    answers="Which groups are in trouble, and where?",
    example="SELECT group_id, status, total_lag, max_lag_topic, max_lag_partition FROM group_status "
    "WHERE status <> 'OK' ORDER BY total_lag DESC",
)
