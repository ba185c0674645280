from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from group_coordinator import settings
from group_coordinator.job import storage_check
from group_coordinator.job.refusals import JobRefusedError
from group_coordinator.job.storage_check import check_other_clusters, check_second_writer
from group_coordinator.streaming.cluster_options import DATABRICKS

LOG_STORE = "spark.delta.logStore.s3a.impl"


class Configured:
    """Stands for a session of which nothing but its configuration is asked."""

    def __init__(self, **values: str) -> None:
        self.conf = values


@pytest.mark.parametrize("scheme", ["s3", "s3a", "s3n"])
def test_a_second_driver_on_s3_is_refused(scheme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(DATABRICKS, raising=False)
    job = replace(settings.load().job, tables_root=f"{scheme}://bucket/gc")
    spark: Any = Configured()

    with pytest.raises(JobRefusedError, match=rf"configure spark\.delta\.logStore\.{scheme}\.impl"):
        check_second_writer(spark, job)


@pytest.mark.parametrize("others", [["west"], ["test", "west"]])
def test_tables_on_s3_that_another_cluster_writes_are_refused(
    others: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(DATABRICKS, raising=False)
    job = replace(settings.load().job, tables_root="s3a://bucket/gc", cluster_id="test")
    claimed(monkeypatch, *others)
    spark: Any = Configured()

    with pytest.raises(JobRefusedError, match=r"has rows of cluster\.id = west too"):
        check_other_clusters(spark, job)

    with_log_store: Any = Configured(**{LOG_STORE: "io.delta.storage.S3DynamoDBLogStore"})
    check_other_clusters(with_log_store, job)
    check_other_clusters(spark, replace(job, tables_root="/data/gc"))


def test_a_disk_that_is_written_by_its_url_has_one_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    job = replace(settings.load().job, tables_root="file:///data/gc", cluster_id="test")
    claimed(monkeypatch, "west")
    spark: Any = Configured()

    with pytest.raises(JobRefusedError) as refusal:
        check_other_clusters(spark, job)

    assert str(refusal.value) == (
        "tables.root = file:///data/gc has rows of cluster.id = west too, and by a file: URL two drivers that write one Delta "
        "table lose each other's commits: give this run tables of its own, or write it as a path, without file:"
    )
    claimed(monkeypatch, "test")
    check_other_clusters(spark, job)


def test_tables_on_s3_of_one_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(DATABRICKS, raising=False)
    job = replace(settings.load().job, tables_root="s3a://bucket/gc", cluster_id="test")
    claimed(monkeypatch, "test")
    spark: Any = Configured()

    check_other_clusters(spark, job)


def claimed(monkeypatch: pytest.MonkeyPatch, *cluster_ids: str) -> None:
    """No unit test has an S3 to keep the table writers in."""
    monkeypatch.setattr(storage_check, "clusters", lambda *_: set(cluster_ids))


@pytest.mark.parametrize("root", ["abfss://c@a/gc", "main.coordinator", "/data/gc", "hdfs://n/gc"])
def test_other_storage_has_room_for_two(root: str) -> None:
    spark: Any = Configured()

    check_second_writer(spark, replace(settings.load().job, tables_root=root))


def test_s3_with_a_log_store_of_several_drivers(monkeypatch: pytest.MonkeyPatch) -> None:
    job = replace(settings.load().job, tables_root="s3a://bucket/gc")
    spark: Any = Configured(**{LOG_STORE: "io.delta.storage.S3DynamoDBLogStore"})
    check_second_writer(spark, job)

    monkeypatch.setenv(DATABRICKS, "17.3")
    bare: Any = Configured()
    check_second_writer(bare, job)
