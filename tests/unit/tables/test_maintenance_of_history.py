"""Maintenance of a log whose history grows thin: real Delta tables, no JVM."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable
from deltalake.exceptions import CommitFailedError

from group_coordinator import settings
from group_coordinator.settings import JobSettings
from group_coordinator.tables import maintenance_work
from group_coordinator.tables.coordinator_log import COORDINATOR_LOG
from group_coordinator.tables.maintenance import Maintenance, Notebook
from group_coordinator.tables.maintenance_work import MaintenanceNote
from group_coordinator.tables.thinning import OPEN_MS
from tests.support import commit_rows

DAY, DAY_MS = 24 * 60, 24 * 3_600_000
FIRST = 20_000 * DAY
"""A midnight, in minutes."""
NO_SPARK: Any = None


@pytest.fixture
def job(tmp_path: Path) -> JobSettings:
    job = settings.load(overrides=["history.full.ms=86400000", "cluster.id=eu"]).job
    COORDINATOR_LOG.create_on_disk(tmp_path / COORDINATOR_LOG.name)
    return replace(job, tables_root=f"{tmp_path}/", maintenance_interval_ms=30 * DAY_MS)


@pytest.fixture
def notebook() -> Notebook:
    pages: list[dict[str, MaintenanceNote]] = []
    return Notebook(lambda: pages[-1] if pages else {}, pages.append)


def log(job: JobSettings) -> DeltaTable:
    return DeltaTable(Path(job.tables_root) / COORDINATOR_LOG.name)


def append(job: JobSettings, minutes: Iterable[int]) -> None:
    folder = Path(job.tables_root) / COORDINATOR_LOG.name
    commit_rows.append(folder, (commit_rows.commit(minute, minute) for minute in minutes))


def look(job: JobSettings, notebook: Notebook, minute: int) -> int:
    """The rows of the log after a look of a new process, so long after this minute as a day stays open."""
    Maintenance(NO_SPARK, job, [COORDINATOR_LOG], notebook).look(minute * 60_000 + OPEN_MS)
    return int(log(job).to_pyarrow_table().num_rows)


def test_history_grows_thin_once_a_day(job: JobSettings, notebook: Notebook) -> None:
    append(job, range(FIRST, FIRST + 2 * DAY))

    assert look(replace(job, history_full_ms=0), notebook, FIRST + 2 * DAY) == 2 * DAY
    assert look(job, notebook, FIRST + 2 * DAY) == 24 * 2 + DAY

    append(job, [FIRST + 2 * DAY])
    assert look(job, notebook, FIRST + 3 * DAY - 1) == 24 * 2 + DAY + 1
    assert look(job, notebook, FIRST + 3 * DAY) == 24 * 4 + 1


def test_files_of_sorted_rows_are_not_put_together_with_new_ones(
    job: JobSettings, notebook: Notebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or groups would be spread over all files again."""
    name = "group_coordinator.tables.thinning.SORTED_FILE_BYTES"
    monkeypatch.setattr(name, 50_000)
    monkeypatch.setattr("group_coordinator.tables.maintenance.GATHERED_FILE_BYTES", 45_000)
    append(job, range(FIRST - 4 * DAY, FIRST + DAY))
    look(replace(job, history_full_ms=30 * DAY_MS), notebook, FIRST + DAY)
    is_sorted = set(log(job).file_uris())
    for minute in range(4):
        append(job, [FIRST + DAY + minute])
    quick = replace(job, maintenance_new_files=4, history_full_ms=30 * DAY_MS)
    look(quick, notebook, FIRST + DAY + 5)

    present = set(log(job).file_uris())
    assert len(is_sorted) > 1
    assert len(present - is_sorted) == 1
    assert len(is_sorted - present) <= 1  # the last one is small


def test_thinning_that_fails_is_told_and_files_are_put_together_all_the_same(
    job: JobSettings,
    notebook: Notebook,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fails(*_: object) -> None:
        raise CommitFailedError("a concurrent transaction added new data")

    for minute in range(5):
        append(job, [FIRST + minute])
    with monkeypatch.context() as patched:
        patched.setattr(maintenance_work, "thin_in_folder", fails)
        assert look(job, notebook, FIRST + 2 * DAY) == 5
    assert len(log(job).file_uris()) == 1
    assert (
        "another process changes table coordinator_log: its maintenance is tried again"
        in caplog.text
    )

    assert look(job, notebook, FIRST + 2 * DAY) == 2
