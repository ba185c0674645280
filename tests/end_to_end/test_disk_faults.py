from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from shutil import copytree, rmtree

import pytest

from tests.end_to_end.commits import Commits, await_logged, logged
from tests.end_to_end.installation import Installation
from tests.job_process import JobProcess

pytestmark = [pytest.mark.spark, pytest.mark.kafka]


@pytest.fixture
def small_disk(installation: Installation) -> Iterator[Path]:
    """The tables on a disk of 4 MB."""
    tables = Path(installation.tables_root)
    kept = tables.rename(tables.with_name("kept"))
    tables.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(tables)]
    if subprocess.run(mount, check=False, capture_output=True).returncode != 0:
        tables.rmdir()
        kept.rename(tables)
        pytest.skip("only root may mount")
    try:
        copytree(kept, tables, dirs_exist_ok=True)
        yield tables
    finally:
        rmtree(kept)
        copytree(tables, kept)
        subprocess.run(["umount", "-l", tables], check=True)
        tables.rmdir()
        kept.rename(tables)


def test_a_full_disk(installation: Installation, small_disk: Path) -> None:
    ballast = small_disk / "ballast"
    run = ["run", *installation.options]
    with JobProcess(run, installation.folder) as job, Commits(installation):
        await_logged(installation, 20, job)
        fill(ballast)
        assert job.wait(400) == 1, job.log
    error = job.log.splitlines()[-1]
    assert error.startswith(f"Error: {small_disk}/coordinator_log cannot be written: ")
    assert "No space left on device" in error

    ballast.unlink()
    assert_nothing_is_lost(installation)


def test_a_folder_that_is_no_folder(installation: Installation) -> None:
    table = Path(installation.tables_root, "coordinator_log")
    aside = table.with_name("aside")
    run = ["run", *installation.options]
    with JobProcess(run, installation.folder) as job, Commits(installation):
        await_logged(installation, logged(installation) + 20, job)
        table.rename(aside)
        table.write_text("no folder")
        assert job.wait(400) == 1, job.log
    error = job.log.splitlines()[-1]
    assert error.startswith(f"Error: {table} cannot be written: ")

    table.unlink()
    aside.rename(table)
    assert_nothing_is_lost(installation)


def fill(file: Path) -> None:
    subprocess.run(["dd", "if=/dev/zero", f"of={file}"], check=False, capture_output=True)


def assert_nothing_is_lost(installation: Installation) -> None:
    with JobProcess(["run", "--drain", *installation.options], installation.folder) as job:
        assert job.wait(400) == 0, job.log
    assert logged(installation) == len(installation.expected_lines("L"))
    assert installation.answers().keys() == installation.asked_ids()
