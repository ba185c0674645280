from __future__ import annotations

from group_coordinator.driver.metrics.meters import Counts
from group_coordinator.streaming.meter_totals import MeterTotals
from group_coordinator.streaming.small_batch import BatchMeters
from tests.support.files import FilesInMemory
from tests.unit.driver.metrics.scraped import shown

KAFKAS = "kafka_server_group_coordinator_metrics"


def test_each_meter_has_a_rate_and_a_count() -> None:
    counts = Counts(MeterTotals(FilesInMemory(), lambda *_: {}))
    counts.add(0, BatchMeters({"offset-commit": 90, "dead-letter": 2, "defect": 1}))
    counts.add(0, BatchMeters({"offset-commit": 90}))

    found = shown(counts.families())

    assert found[f"{KAFKAS}_offset_commit_count"] == 90
    assert 1.5 <= found[f"{KAFKAS}_offset_commit_rate"] <= 3
    assert {name for name in found if name.startswith(KAFKAS)} == {
        f"{KAFKAS}_{meter}_{kind}"
        for kind in ("rate", "count")
        for meter in (
            *("offset_commit", "offset_expiration", "offset_deletion"),
            *("group_completed_rebalance", "consumer_group_rebalance"),
        )
    }
    assert found["group_coordinator_dead_letters_total"] == 2
    assert found["group_coordinator_defects_total"] == 1


def test_no_count_is_shown_that_is_not_whole() -> None:
    totals = MeterTotals(FilesInMemory(), lambda *_: {"offset-commit": 1})
    counts = Counts(totals)
    counts.add(3, BatchMeters({"offset-commit": 90}))

    assert f"{KAFKAS}_offset_commit_count" not in shown(counts.families())
    totals.make_up()
    assert shown(counts.families())[f"{KAFKAS}_offset_commit_count"] == 91
