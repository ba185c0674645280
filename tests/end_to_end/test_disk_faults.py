from __future__ import annotations

from pathlib import Path

import pytest

from tests.end_to_end.commits import Commits, await_logged, logged
from tests.end_to_end.installation import Installation
from tests.support.job_process import JobProcess

pytestmark = [pytest.mark.spark, pytest.mark.kafka]


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


def assert_nothing_is_lost(installation: Installation) -> None:
    with JobProcess(["run", "--drain", *installation.options], installation.folder) as job:
        assert job.wait(400) == 0, job.log
    assert logged(installation) == len(installation.expected_lines("L"))
    assert installation.answers().keys() == installation.asked_ids()
