"""Maintenance of tables on a local disk: real Delta tables, no JVM."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from delta.exceptions import ConcurrentDeleteDeleteException
from deltalake import DeltaTable, Transaction, write_deltalake
from filelock import FileLock, Timeout

from group_coordinator import settings
from group_coordinator.settings import JobSettings
from group_coordinator.tables.append import append_on_disk
from group_coordinator.tables.coordinator_log import COORDINATOR_LOG
from group_coordinator.tables.definition import TableDefinition
from group_coordinator.tables.failed_events import DEAD_LETTERS
from group_coordinator.tables.maintenance import Maintenance, Notebook
from group_coordinator.tables.maintenance_work import MaintenanceNote
from group_coordinator.tables.state_tables import GROUPS

HOUR = 3_600_000
NOON = 490_000 * HOUR
VALUES = {"string": "x", "integer": 1, "long": 1, "timestamp": 1, "array": []}
VALUES |= {"binary": b"x", "boolean": True}
NO_SPARK: Any = None


@pytest.fixture
def job(tmp_path: Path) -> JobSettings:
    given = replace(settings.load().job, tables_root=f"{tmp_path}/tables", cluster_id="test")
    return replace(given, maintenance_interval_ms=3 * HOUR, maintenance_new_files=4)


@pytest.fixture
def notebook() -> Notebook:
    pages: list[dict[str, MaintenanceNote]] = []
    return Notebook(lambda: pages[-1] if pages else {}, pages.append)


def made(job: JobSettings, table: TableDefinition) -> Path:
    folder = Path(job.tables_root) / table.name
    table.create_on_disk(folder)
    return folder


def append(folder: Path, table: TableDefinition, times: int = 1, **values: object) -> None:
    rows = pa.Table.from_pylist([row_of(table, **values)], schema=table.no_rows().schema)
    for _ in range(times):
        write_deltalake(folder, rows, mode="append")


def row_of(table: TableDefinition, **values: object) -> dict[str, object]:
    return {
        column.name: values.get(column.name, VALUES[column.dataType.typeName()])
        for column in table.schema
    }


def files(folder: Path) -> tuple[int, int]:
    """Those that the table consists of, and those that are there."""
    return len(DeltaTable(folder).file_uris()), len(list(folder.rglob("part-*.parquet")))


def keep_replaced_files_for(folder: Path, interval: str) -> None:
    properties = {"delta.deletedFileRetentionDuration": interval}
    DeltaTable(folder).alter.set_table_properties(properties)


@pytest.mark.parametrize("table", [COORDINATOR_LOG, DEAD_LETTERS, GROUPS], ids=lambda t: t.name)
def test_many_files_become_one_before_it_is_time(
    job: JobSettings, notebook: Notebook, table: TableDefinition
) -> None:
    folder = made(job, table)
    Maintenance(NO_SPARK, job, [table], notebook).look(NOON)
    append(folder, table, 3, cluster_id="test")

    Maintenance(NO_SPARK, job, [table], notebook).look(NOON + 1)
    assert files(folder) == (3, 3)
    append(folder, table, cluster_id="test")
    Maintenance(NO_SPARK, job, [table], notebook).look(NOON + 2)
    assert files(folder) == (1, 5)  # somebody may be reading the four

    append(folder, table, 3, cluster_id="test")
    Maintenance(NO_SPARK, job, [table], notebook).look(NOON + 3)
    assert files(folder) == (4, 8)
    assert DeltaTable(folder).to_pyarrow_table().num_rows == 7


def test_few_files_become_one_when_it_is_time_whoever_looks(
    job: JobSettings, notebook: Notebook
) -> None:
    """A job that a scheduler starts every ten minutes looks once in each run."""
    folder = made(job, DEAD_LETTERS)
    for run in range(18):
        append(folder, DEAD_LETTERS)
        Maintenance(
            NO_SPARK, replace(job, maintenance_new_files=500), [DEAD_LETTERS], notebook
        ).look(NOON + run * HOUR // 6)
    assert files(folder)[0] == 18

    Maintenance(NO_SPARK, job, [DEAD_LETTERS], notebook).look(NOON + 3 * HOUR)
    assert files(folder)[0] == 1


def test_a_table_at_rest_is_left_alone(job: JobSettings, notebook: Notebook) -> None:
    folder = made(job, GROUPS)
    append(folder, GROUPS, 3, cluster_id="test")
    maintenance = Maintenance(NO_SPARK, job, [GROUPS], notebook)
    maintenance.look(NOON)
    present = DeltaTable(folder).file_uris()

    maintenance.look(NOON + 3 * HOUR)
    maintenance.look(NOON + 6 * HOUR)

    assert DeltaTable(folder).file_uris() == present


def test_what_nobody_reads_any_more_is_removed_though_the_log_has_forgotten_it(
    job: JobSettings, notebook: Notebook
) -> None:
    folder = made(job, COORDINATOR_LOG)
    append(folder, COORDINATOR_LOG, 3)
    keep_replaced_files_for(folder, "interval 1 days")
    maintenance = Maintenance(NO_SPARK, job, [COORDINATOR_LOG], notebook)
    maintenance.look(NOON)
    assert files(folder) == (1, 4)

    keep_replaced_files_for(folder, "interval 0 hours")
    DeltaTable(folder).create_checkpoint()  # without what is too old by now
    maintenance.look(NOON + 3 * HOUR)

    assert files(folder) == (1, 1)
    assert DeltaTable(folder).to_pyarrow_table().num_rows == 3


def test_files_of_other_clusters_are_left_to_them(job: JobSettings, notebook: Notebook) -> None:
    folder = made(job, GROUPS)
    for cluster in ("test", "other"):
        append(folder, GROUPS, 5, cluster_id=cluster)

    Maintenance(NO_SPARK, job, [GROUPS], notebook).look(NOON)

    present = Counter(Path(uri).parent.name for uri in DeltaTable(folder).file_uris())
    assert present == {"cluster_id=test": 1, "cluster_id=other": 5}


def test_of_two_processes_at_once_one_waits_for_the_next_time(
    job: JobSettings, notebook: Notebook
) -> None:
    """The deltalake package would put the files together twice, with all rows twice."""
    folders = [made(job, table) for table in (COORDINATOR_LOG, DEAD_LETTERS)]
    for folder, table in zip(folders, (COORDINATOR_LOG, DEAD_LETTERS), strict=True):
        append(folder, table, 5)
    maintenance = Maintenance(NO_SPARK, job, [COORDINATOR_LOG, DEAD_LETTERS], notebook)
    with FileLock(folders[0].with_name(".coordinator_log.lock")):
        maintenance.look(NOON)
    assert [files(folder)[0] for folder in folders] == [5, 1]

    maintenance.look(NOON + 1)
    assert [files(folder)[0] for folder in folders] == [1, 1]


def test_the_deltas_own_log_stays_small(job: JobSettings, notebook: Notebook) -> None:
    """Every append looks at all its files: upkeep takes what is older than the last checkpoint once it is old enough.

    Appends leave it there: of two commits that remove the same files at the same time one fails.
    """
    folder = made(job, COORDINATOR_LOG)
    properties = DeltaTable(folder).metadata().configuration
    assert properties["delta.logRetentionDuration"] == "interval 30 minutes"
    DeltaTable(folder).alter.set_table_properties(
        {"delta.logRetentionDuration": "interval 0 hours", "delta.checkpointInterval": "5"}
    )
    rows = pa.Table.from_pylist([row_of(COORDINATOR_LOG)], COORDINATOR_LOG.no_rows().schema)
    for batch in range(23):
        append_on_disk(DeltaTable(folder), folder, rows, Transaction("test", batch))
    assert len(commits_in(folder)) == 25

    Maintenance(NO_SPARK, job, [COORDINATOR_LOG], notebook).look(NOON)

    assert len(commits_in(folder)) < 10
    assert DeltaTable(folder).to_pyarrow_table().num_rows == 23


def commits_in(folder: Path) -> list[Path]:
    return list((folder / "_delta_log").glob("*.json"))


def let_optimize_fail(patch: pytest.MonkeyPatch, failure: Exception) -> None:
    def fail(*_: object, **__: object) -> None:
        raise failure

    patch.setattr("deltalake.table.TableOptimizer.z_order", fail)
    patch.setattr("deltalake.table.TableOptimizer.compact", fail)


@pytest.mark.parametrize(
    ("failure", "files_after"),
    [(FileNotFoundError("_delta_log/1.json"), 1), (FileNotFoundError("part-1.parquet"), 5)],
)
def test_who_finds_that_others_were_faster_looks_again_the_next_minute(
    job: JobSettings,
    notebook: Notebook,
    monkeypatch: pytest.MonkeyPatch,
    failure: OSError,
    files_after: int,
) -> None:
    folder = made(job, COORDINATOR_LOG)
    append(folder, COORDINATOR_LOG, 5)
    maintenance = Maintenance(NO_SPARK, job, [COORDINATOR_LOG], notebook)
    with monkeypatch.context() as meanwhile:
        let_optimize_fail(meanwhile, failure)
        maintenance.look(NOON)
    assert files(folder)[0] == 5

    maintenance.look(NOON + 60_000)

    assert files(folder)[0] == files_after


@pytest.mark.parametrize("failure", [Timeout("a.lock"), ConcurrentDeleteDeleteException("[DELTA]")])
def test_that_another_process_changes_the_table_is_no_failure(
    job: JobSettings,
    notebook: Notebook,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    failure: Exception,
) -> None:
    append(made(job, COORDINATOR_LOG), COORDINATOR_LOG)

    let_optimize_fail(monkeypatch, failure)
    Maintenance(NO_SPARK, job, [COORDINATOR_LOG], notebook).look(NOON)

    assert caplog.messages == [
        "another process changes table coordinator_log: its maintenance is tried again"
    ]


def test_what_fails_does_not_end_the_run(
    job: JobSettings, notebook: Notebook, caplog: pytest.LogCaptureFixture
) -> None:
    """There is no such table, and then the checkpoint's storage is away."""
    folder = made(job, DEAD_LETTERS)
    append(folder, DEAD_LETTERS, 5)

    def away() -> dict[str, MaintenanceNote]:
        raise OSError("no route to host")

    Maintenance(NO_SPARK, job, [COORDINATOR_LOG, DEAD_LETTERS], notebook).look(NOON)
    assert files(folder)[0] == 1
    Maintenance(NO_SPARK, job, [DEAD_LETTERS], Notebook(away, notebook.replace)).look(NOON)

    assert [record.args[0] for record in caplog.records if isinstance(record.args, tuple)] == [
        "coordinator_log",
        "dead_letters",
    ]
