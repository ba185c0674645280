from __future__ import annotations

from group_coordinator.tables.coordinator_log import COORDINATOR_LOG
from group_coordinator.tables.groups import GROUPS
from group_coordinator.tables.topic_positions import TOPIC_POSITIONS

VERSIONS, FILES = "delta.logRetentionDuration", "delta.deletedFileRetentionDuration"


def test_properties_of_0_2_0_are_brought_up_to_date() -> None:
    present = {VERSIONS: "interval 7 days", FILES: "interval 3 hours"}

    assert GROUPS.outdated(present, on_disk=False) == {
        VERSIONS: "interval 1 days",
        FILES: "interval 1 days",
    }
    assert GROUPS.outdated(present, on_disk=True) == {
        VERSIONS: "interval 30 minutes",
        FILES: "interval 1 days",
    }


def test_properties_that_somebody_chose_stay() -> None:
    chosen = {VERSIONS: "interval 30 days", FILES: "interval 14 days"}

    assert COORDINATOR_LOG.outdated(chosen, on_disk=True) == {}


def test_properties_of_now_stay() -> None:
    now = {VERSIONS: "interval 30 minutes", FILES: "interval 1 days"}

    assert COORDINATOR_LOG.outdated(now, on_disk=True) == {}


def test_only_tables_whose_rows_change_or_go_are_partitioned_and_those_of_groups_sorted() -> None:
    assert (GROUPS.partitioned_by, GROUPS.sorted_by) == (("cluster_id",), ("group_id",))
    assert (COORDINATOR_LOG.partitioned_by, COORDINATOR_LOG.sorted_by) == ((), ())
    assert (TOPIC_POSITIONS.partitioned_by, TOPIC_POSITIONS.sorted_by) == (("cluster_id",), ())
