"""One checkpoint writes a cluster's rows: what is refused at a start, and what an append notices."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import deltalake
import pyarrow as pa
import pytest
from chispa import assert_df_equality
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
from pyspark.sql import SparkSession

from group_coordinator.settings import JobSettings
from group_coordinator.streaming.checkpoint import ownership
from group_coordinator.streaming.checkpoint.layout import coordinator_folder
from group_coordinator.streaming.checkpoint.ownership import CheckpointError, check_still_owner
from group_coordinator.streaming.rebuild.rebuild import rebuild
from group_coordinator.tables.append import Size, SparkRows
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.claims import newest_claim
from group_coordinator.tables.coordinator_log import COORDINATOR_LOG
from group_coordinator.tables.creation import create_tables
from group_coordinator.tables.storage_errors import StorageError
from group_coordinator.tables.writer import NotTheWriterError, Writer
from tests.support.log_rows import Log

pytestmark = pytest.mark.spark

LOG = COORDINATOR_LOG.name
SMALL, LARGE = Size(1, 1), Size(50_001, 1)


def checked_writer(spark: SparkSession, job: JobSettings) -> Writer:
    return ownership.checked_writer(spark, job, lambda: None)


def append(spark: SparkSession, writer: Writer, batch_id: int, size: Size = SMALL) -> None:
    """A batch with one commit, whose offset is the batch."""
    log = Log(batch_id)
    log.commit("g", "orders", 0, batch_id)
    rows = log.frame(spark).drop("batch_id", "ingested_at")
    writer.append_once(SparkRows(rows, size), COORDINATOR_LOG, batch_id)


def batches(job: JobSettings) -> list[int]:
    table = DeltaTable(TableCatalog(job.tables_root).location(LOG)).to_pyarrow_table()
    return sorted(table["batch_id"].to_pylist())


def plan(spark: SparkSession, job: JobSettings, batch_id: int) -> None:
    """As Spark does when it begins a batch."""
    coordinator_folder(spark, job).write(f"offsets/{batch_id}", "")


def elsewhere(job: JobSettings) -> JobSettings:
    return replace(job, checkpoint_location=f"{job.checkpoint_location}-elsewhere")


def test_a_new_checkpoint_claims_the_clusters_rows_once(
    spark: SparkSession, job: JobSettings
) -> None:
    first_times: list[str] = []
    first, second = (
        ownership.checked_writer(spark, job, lambda: first_times.append("first")) for _ in range(2)
    )

    catalog = TableCatalog(job.tables_root)
    assert first == second == Writer(catalog, "test", 1)
    assert first_times == ["first"]
    location = coordinator_folder(spark, job).location
    claims = catalog.read(spark, "writers").select("cluster_id", "epoch", "checkpoint")
    expected = spark.createDataFrame([("test", 1, location)], claims.schema)
    assert_df_equality(claims, expected, ignore_nullable=True)


def test_a_checkpoint_that_cannot_be_written_is_named(
    spark: SparkSession, job: JobSettings, tmp_path: Path
) -> None:
    (tmp_path / "checkpoint").touch()

    with pytest.raises(StorageError, match=rf"checkpoint\.location = .*{tmp_path.name}/checkpoint"):
        checked_writer(spark, job)


def test_a_second_checkpoint_for_the_same_rows_is_refused(
    spark: SparkSession, job: JobSettings
) -> None:
    checked_writer(spark, job)

    with pytest.raises(CheckpointError) as refusal:
        checked_writer(spark, elsewhere(job))

    assert str(refusal.value) == (
        f"cluster.id = test in tables.root = {job.tables_root} is written by checkpoint "
        f"{job.checkpoint_location}/coordinator, from topic group-events, and not by "
        f"{job.checkpoint_location}-elsewhere/coordinator: set another cluster.id; or, if that checkpoint is "
        "lost or must not write any more, end its run, move this checkpoint away and run `group-coordinator "
        "rebuild`"
    )
    assert checked_writer(spark, replace(elsewhere(job), cluster_id="other")).epoch == 1


def test_a_copy_of_a_checkpoint_is_refused_while_the_original_is_there(
    spark: SparkSession, job: JobSettings
) -> None:
    original, copy = Path(job.checkpoint_location), elsewhere(job)
    checked_writer(spark, job)
    shutil.copytree(original, copy.checkpoint_location)

    with pytest.raises(CheckpointError) as refusal:
        checked_writer(spark, copy)
    assert str(refusal.value) == (
        f"{copy.checkpoint_location}/coordinator is a copy of checkpoint file:{original}/coordinator, which "
        "still exists, and only one of them may run: run the original, or move it away first"
    )

    original.rename(f"{original}-away")
    assert checked_writer(spark, copy).epoch == 1


@pytest.mark.parametrize("place", ["hdfs://gone.invalid:8020/x", "nosuch://bucket/x"])
def test_a_checkpoint_whose_old_place_cannot_be_reached_goes_on(
    spark: SparkSession, job: JobSettings, place: str
) -> None:
    checked_writer(spark, job)
    identity = Path(job.checkpoint_location, "coordinator", "writer.json")
    text = json.loads(identity.read_text())
    identity.write_text(json.dumps(text | {"place": place}))

    assert checked_writer(spark, job).epoch == 1
    assert json.loads(identity.read_text()) == text


def test_a_copy_is_one_also_after_the_original_was_called_otherwise(
    spark: SparkSession, job: JobSettings
) -> None:
    copy, alias = elsewhere(job), elsewhere(elsewhere(job))
    checked_writer(spark, job)
    shutil.copytree(job.checkpoint_location, copy.checkpoint_location)
    Path(alias.checkpoint_location).symlink_to(job.checkpoint_location)
    checked_writer(spark, alias)

    with pytest.raises(CheckpointError, match="is a copy of checkpoint"):
        checked_writer(spark, copy)


def test_a_checkpoint_with_two_names_is_no_copy(spark: SparkSession, job: JobSettings) -> None:
    checked_writer(spark, job)
    Path(elsewhere(job).checkpoint_location).symlink_to(job.checkpoint_location)

    assert checked_writer(spark, elsewhere(job)).epoch == 1
    assert checked_writer(spark, job).epoch == 1
    assert {file.name for file in Path(job.checkpoint_location, "coordinator").iterdir()} == {
        "writer.json"
    }


def test_other_tables_than_before_are_refused(
    spark: SparkSession, job: JobSettings, tmp_path: Path
) -> None:
    append(spark, checked_writer(spark, job), 0)
    plan(spark, job, 0)
    create_tables(f"{tmp_path}/others", lambda: spark)

    with pytest.raises(
        CheckpointError, match=r"others has no rows of cluster\.id = test, but check"
    ):
        checked_writer(spark, replace(job, tables_root=f"{tmp_path}/others"))
    with pytest.raises(CheckpointError, match=r"no rows of cluster\.id = other"):
        checked_writer(spark, replace(job, cluster_id="other"))


def test_a_checkpoint_that_is_older_than_the_log_is_refused(
    spark: SparkSession, job: JobSettings
) -> None:
    writer = checked_writer(spark, job)
    plan(spark, job, 0)
    append(spark, writer, 0)
    folder = Path(job.checkpoint_location)
    shutil.copytree(folder, f"{folder}-backup")
    plan(spark, job, 1)
    append(spark, writer, 1)
    assert checked_writer(spark, job) == writer
    shutil.rmtree(folder)
    Path(f"{folder}-backup").rename(folder)

    with pytest.raises(CheckpointError, match=r"is older than the tables .*: it is at batch 0"):
        checked_writer(spark, job)


def test_a_lost_checkpoint_is_told_from_a_new_one(spark: SparkSession, job: JobSettings) -> None:
    append(spark, checked_writer(spark, job), 0)
    shutil.rmtree(job.checkpoint_location)

    with pytest.raises(CheckpointError, match="run `group-coordinator rebuild` with the same"):
        checked_writer(spark, job)


@pytest.mark.parametrize("killed_in", ["write_claim", "newest_claim"])
def test_a_claim_that_was_interrupted_is_made_whole(
    spark: SparkSession, job: JobSettings, monkeypatch: pytest.MonkeyPatch, killed_in: str
) -> None:
    """Before the table has it, and after."""
    with monkeypatch.context() as patched:
        patched.setattr(ownership, killed_in, _killed_at_the_second_call(killed_in))
        with pytest.raises(KeyboardInterrupt):
            checked_writer(spark, job)

    assert checked_writer(spark, job).epoch == 1
    claim = newest_claim(spark, TableCatalog(job.tables_root), "test")
    assert claim is not None
    assert claim.epoch == 1


def _killed_at_the_second_call(name: str) -> object:
    """The first look at the claims is before the claim."""
    real, calls = getattr(ownership, name), [name] if name == "write_claim" else []

    def called(*arguments: object) -> object:
        if calls:
            raise KeyboardInterrupt
        calls.append(name)
        return real(*arguments)

    return called


def test_a_rebuild_succeeds_the_checkpoint_whose_driver_was_forgotten(
    spark: SparkSession, job: JobSettings
) -> None:
    forgotten = checked_writer(spark, job)
    append(spark, forgotten, 0)
    check_still_owner(spark, forgotten)

    rebuild(spark, elsewhere(job), {0: range(100)})

    with pytest.raises(NotTheWriterError, match=r"elsewhere/coordinator has taken over"):
        check_still_owner(spark, forgotten)
    with pytest.raises(NotTheWriterError, match="its epoch is 2, ours 1"):
        append(spark, forgotten, 1)
    append(spark, checked_writer(spark, elsewhere(job)), 1)
    assert batches(job) == [0, 1]
    plan(spark, job, 1)
    with pytest.raises(CheckpointError, match=r"elsewhere/coordinator, from topic "):
        checked_writer(spark, job)


@pytest.mark.parametrize("size", [SMALL, LARGE], ids=["on the driver", "by Spark"])
def test_an_equal_batch_is_taken_once_and_an_earlier_one_never(
    spark: SparkSession, job: JobSettings, size: Size
) -> None:
    writer = checked_writer(spark, job)
    append(spark, writer, 7, size)
    append(spark, writer, 7, SMALL)
    append(spark, writer, 7, LARGE)

    with pytest.raises(NotTheWriterError, match="has batch 7, and this run is at 6"):
        append(spark, writer, 6, size)
    assert batches(job) == [7]


def test_of_two_appends_at_once_the_table_takes_one(spark: SparkSession, job: JobSettings) -> None:
    """What the check before an append did not see yet, the commit does."""
    writer = checked_writer(spark, job)
    append(spark, writer, 0)
    stale = DeltaTable(TableCatalog(job.tables_root).location(LOG))
    append(spark, writer, 1)

    application = f"group-coordinator/test/{LOG}"
    mark = CommitProperties(app_transactions=[Transaction(application, 2**40 + 1)])
    with pytest.raises(deltalake.exceptions.CommitFailedError):
        write_deltalake(stale, COORDINATOR_LOG.no_rows(), mode="append", commit_properties=mark)
    assert batches(job) == [0, 1]


def test_a_column_of_a_later_version_does_not_keep_this_one_from_writing(
    spark: SparkSession, job: JobSettings
) -> None:
    folder = TableCatalog(job.tables_root).location(LOG)
    later = deltalake.Schema.from_arrow(pa.schema([("of_tomorrow", pa.string())])).fields
    DeltaTable(folder).alter.add_columns(later)
    writer = checked_writer(spark, job)

    append(spark, writer, 0, SMALL)
    append(spark, writer, 1, LARGE)

    rows = DeltaTable(folder).to_pyarrow_table()
    assert rows["of_tomorrow"].to_pylist() == [None, None]


@pytest.fixture
def in_a_catalog(spark: SparkSession, job: JobSettings, tmp_path: Path) -> Iterator[JobSettings]:
    """Tables that Spark alone can write, in a schema of a catalog."""
    spark.sql(f"CREATE SCHEMA `test_schema` LOCATION '{tmp_path}/warehouse'")
    root = "spark_catalog.test_schema"
    create_tables(root, lambda: spark)
    yield replace(job, tables_root=root)
    spark.sql("DROP SCHEMA `test_schema` CASCADE")


@pytest.mark.nightly
def test_tables_in_a_catalog_are_claimed_and_fenced_too(
    spark: SparkSession, in_a_catalog: JobSettings
) -> None:
    job = in_a_catalog
    forgotten = checked_writer(spark, job)
    append(spark, forgotten, 0)
    append(spark, forgotten, 0, LARGE)
    with pytest.raises(CheckpointError, match="has no checkpoint, but"):
        checked_writer(spark, job)
    plan(spark, job, 0)
    assert checked_writer(spark, job) == forgotten

    rebuild(spark, elsewhere(job), {0: range(100)})
    append(spark, forgotten, 1)
    append(spark, checked_writer(spark, elsewhere(job)), 1)

    rows = TableCatalog(job.tables_root).read(spark, LOG).select("batch_id")
    assert_df_equality(
        rows, spark.createDataFrame([(0,), (1,)], rows.schema), ignore_row_order=True
    )
    with pytest.raises(NotTheWriterError, match="has taken over"):
        check_still_owner(spark, forgotten)
