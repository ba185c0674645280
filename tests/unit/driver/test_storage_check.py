from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from group_coordinator import settings
from group_coordinator.driver.checks import storage
from group_coordinator.driver.checks.storage import check_other_clusters
from group_coordinator.driver.errors import StartUpError


def test_a_disk_that_is_written_by_its_url_has_one_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    job = replace(settings.load().job, tables_root="file:///data/gc", cluster_id="test")
    claimed(monkeypatch, "west")
    spark: Any = None

    with pytest.raises(StartUpError) as refusal:
        check_other_clusters(spark, job)

    assert str(refusal.value) == (
        "tables.root = file:///data/gc also has rows of cluster.id = west, and with a file: URL two drivers "
        "that write a Delta table lose each other's commits: set another tables.root, or write it as a path, "
        "without file:"
    )
    claimed(monkeypatch, "test")
    check_other_clusters(spark, job)


def claimed(monkeypatch: pytest.MonkeyPatch, *cluster_ids: str) -> None:
    """No unit test has a Spark to read the table writers with."""
    monkeypatch.setattr(storage, "clusters", lambda *_: set(cluster_ids))


@pytest.mark.parametrize(
    "root", ["s3a://bucket/gc", "abfss://c@a/gc", "main.coordinator", "/data/gc", "hdfs://n/gc"]
)
def test_other_storage_has_room_for_two(root: str, monkeypatch: pytest.MonkeyPatch) -> None:
    claimed(monkeypatch, "west")
    spark: Any = None

    check_other_clusters(spark, replace(settings.load().job, tables_root=root))
