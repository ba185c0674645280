"""Files of a checkpoint that are damaged, empty or cut short: they are named, with what is wrong and what to do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from group_coordinator.driver.error_causes import reported_start_errors
from group_coordinator.driver.errors import StartUpError
from group_coordinator.driver.tasks.topic_subscriptions import GroupSubscriptions
from group_coordinator.driver.tasks.transaction_markers import AwaitedMarkers
from group_coordinator.settings import Settings
from group_coordinator.streaming.checkpoint.batch_settings import pin, settings_of_open_batch
from group_coordinator.streaming.checkpoint.folder import CheckpointFolder
from group_coordinator.streaming.checkpoint.layout import coordinator_folder, read_origin
from group_coordinator.streaming.checkpoint.plans import Plans
from group_coordinator.streaming.compaction_query import CompactionQuery, notebook_of
from group_coordinator.streaming.meter_totals import MeterTotals
from group_coordinator.streaming.task_properties import OutageLog
from group_coordinator.tables.maintenance_work import MaintenanceNote

pytestmark = pytest.mark.spark

Read = Callable[[SparkSession, CheckpointFolder], object]
MADE_AGAIN = "restore a copy of it, or move the checkpoint away and start again: the start then names the next step"


def origin(_spark: SparkSession, folder: CheckpointFolder) -> object:
    return read_origin(folder)


def outages(spark: SparkSession, folder: CheckpointFolder) -> object:
    return OutageLog(spark, folder, Plans(folder))


def subscriptions(_spark: SparkSession, folder: CheckpointFolder) -> object:
    return GroupSubscriptions(folder)


def markers(_spark: SparkSession, folder: CheckpointFolder) -> object:
    return AwaitedMarkers(folder)


def totals(_spark: SparkSession, folder: CheckpointFolder) -> object:
    return MeterTotals(folder, lambda *_: {})


def batch_0(_spark: SparkSession, folder: CheckpointFolder) -> object:
    return Plans(folder).ranges_of(0)


def assert_told(read: Read, spark: SparkSession, folder: CheckpointFolder, told: str) -> None:
    with pytest.raises(StartUpError) as refused, reported_start_errors():
        read(spark, folder)

    assert str(refused.value) == told


EMPTY = ("", "Input data was truncated")


@pytest.mark.parametrize(
    ("name", "read", "text", "fault"),
    [
        ("rebuild/origin.json", origin, *EMPTY),
        (
            *("rebuild/origin.json", origin, '{"first_batch_id": "1"}'),
            "Expected `int`, got `str` - at `$.first_batch_id`",
        ),
        (
            *("rebuild/origin.json", origin, '{"x": ' + "[" * 5_000),
            "maximum recursion depth exceeded while deserializing an object",
        ),
        ("outages/12", outages, *EMPTY),
        ("outages/12", outages, "[[1000,90000,false,null],[10", "Input data was truncated"),
        (
            *("outages/12", outages, '[[1000,"soon",false,null]]'),
            "Expected `int`, got `str` - at `$[0][1]`",
        ),
        ("topics/interests/3", subscriptions, *EMPTY),
        (
            *("topics/interests/3", subscriptions, '{"g":{"names":["orders"]}}'),
            "Object missing required field `regexes` - at `$[...]`",
        ),
        ("transactions/awaited/0", markers, *EMPTY),
        (
            *("transactions/awaited/0", markers, '{"g":{"seven":1}}'),
            "Expected `int`, got `str` - at `key` in `$[...]`",
        ),
        ("offsets/0", batch_0, "", "it has 0 lines, and Spark writes at least 3"),
        ("offsets/0", batch_0, "v1\n{}\n-", "Object missing required field `batchTimestampMs`"),
        ("offsets/0", batch_0, 'v1\n{"batchTimestampMs":1}\n{"t":{"0"', "Input data was truncated"),
    ],
)
def test_a_damaged_file_is_told_before_anything_is_read_on(
    spark: SparkSession, tmp_path: Path, name: str, read: Read, text: str, fault: str
) -> None:
    folder = CheckpointFolder(spark, str(tmp_path))
    folder.write(name, text)

    assert_told(read, spark, folder, f"{tmp_path}/{name} is damaged ({fault}): {MADE_AGAIN}")
    assert folder.read(name) == text


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("v1", "it has 1 lines, and Spark writes at least 2"),
        ("v1\n{", "Input data was truncated"),
    ],
)
def test_where_the_first_batch_began_is_told_if_it_is_damaged(
    spark: SparkSession, tmp_path: Path, text: str, fault: str
) -> None:
    folder = CheckpointFolder(spark, str(tmp_path))
    folder.write("offsets/0", 'v1\n{"batchTimestampMs":1}\n{"t":{"0":1}}')
    folder.write("sources/0/0", text)

    assert_told(
        batch_0, spark, folder, f"{tmp_path}/sources/0/0 is damaged ({fault}): {MADE_AGAIN}"
    )


def test_totals_of_meters_may_be_deleted(spark: SparkSession, tmp_path: Path) -> None:
    folder = CheckpointFolder(spark, str(tmp_path))
    folder.write("meters/7", '{"batch_id": 3, "counts": {"offset-commit": null}}')

    assert_told(
        totals,
        spark,
        folder,
        f"{tmp_path}/meters/7 is damaged (Expected `int`, got `null` - at `$.counts[...]`): restore a copy of "
        "it, or delete it: the totals are then counted again from the tables",
    )


def test_files_that_a_kill_may_leave_are_none_of_the_damaged_ones(
    spark: SparkSession, tmp_path: Path
) -> None:
    """A file is written aside, and an older one goes behind the newer one: Spark and this program leave out both."""
    folder = CheckpointFolder(spark, str(tmp_path))
    folder.write("outages/.13.0d0c1a02-5a3c-4f5a-9b6f-7a2a1a3f6c7d.tmp", "[[10")
    folder.write("outages/11", "[[1,2")
    folder.write("outages/12", "[[1000,90000,false,null]]")
    folder.write("offsets/.1.0d0c1a02-5a3c-4f5a-9b6f-7a2a1a3f6c7d.tmp", "")

    assert outages(spark, folder)
    assert Plans(folder).of(1) is None


def test_settings_that_a_batch_began_with_are_told_if_they_are_damaged(
    spark: SparkSession, configured: Settings
) -> None:
    pin(spark, configured)
    folder = coordinator_folder(spark, configured.job)
    folder.write("offsets/0", "v1")
    kept = folder.read("settings/0")
    assert kept is not None
    folder.write("settings/0", kept.replace('"group_max_size":2147483647', '"group_max_size":"x"'))

    def read(_spark: SparkSession, _folder: CheckpointFolder) -> object:
        return settings_of_open_batch(spark, configured, allows_other_version=False)

    assert_told(
        read,
        spark,
        folder,
        f"{folder.location}/settings/0 is damaged (Expected `int`, got `str` - at `$.group_max_size`): {MADE_AGAIN}",
    )


def test_upkeep_needs_no_notes(
    spark: SparkSession, configured: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    notebook = notebook_of(spark, configured.job, "coordinator")
    folder = coordinator_folder(spark, configured.job)
    folder.write("maintenance.json", '{"coordinator_log": {"files": ')

    assert notebook.notes() == {}
    assert caplog.messages == [
        (
            f"{folder.location}/maintenance.json is damaged (Input data was truncated): nothing has to be done: "
            "the tables get their maintenance once more, and the file is written again"
        )
    ]
    notebook.replace({"groups": MaintenanceNote(3)})
    assert notebook.notes() == {"groups": MaintenanceNote(3)}


def test_a_compaction_that_does_not_know_whose_it_is_ends(
    spark: SparkSession, configured: Settings
) -> None:
    location = f"{configured.job.checkpoint_location}/compaction"
    CheckpointFolder(spark, location).write("cluster", "")

    with pytest.raises(StartUpError) as refused, reported_start_errors():
        CompactionQuery(spark, configured).drain()

    assert str(refused.value) == (
        f"{location}/cluster is damaged (it is empty): write the cluster.id of its rows into it, or move the "
        "checkpoint away: compaction then starts again"
    )
