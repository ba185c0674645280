"""Faults of what the job stands on: the broker goes away, the disk of the tables is full."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from shutil import copytree, rmtree

from group_coordinator.local.broker import EmbeddedBroker
from tests.end_to_end.commits import Commits, await_logged, logged
from tests.end_to_end.installation import Installation, installed
from tests.faults.judgement import judged
from tests.faults.result import Result
from tests.faults.scene import RUN_S, Scene, drain
from tests.support.job_process import JobProcess

_DISK = "size=4m"
_FAILED = 1
_COMMITS = 100


def broker_away(scene: Scene, away_s: float) -> Result:
    """The broker stops, and starts again on its data: the job waits, and goes on."""
    folder = scene.folder / "broker-away"
    data = folder / "broker"
    with ExitStack() as resources:
        with EmbeddedBroker(data) as broker:
            installation = installed(Installation(broker.bootstrap_servers, folder))
            arguments = ["run", *installation.options]
            job = resources.enter_context(JobProcess(arguments, folder))
            with Commits(installation) as commits:
                await_logged(installation, _COMMITS, job)
        time.sleep(away_s)
        job.check_alive()
        with EmbeddedBroker(data, broker.port):
            result = _after_the_return(installation, job, commits.next_offset)
    result.figures["away_s"] = away_s
    return result


def _after_the_return(installation: Installation, job: JobProcess, first: int) -> Result:
    before = logged(installation)
    with Commits(installation, first):
        await_logged(installation, before + _COMMITS, job)
    status = job.stop()
    drain(installation)
    result = judged("broker-away", installation, 2)
    result.problems += [f"ended with status {status}"] if status else []
    return result


def disk_full(scene: Scene) -> Result:
    """The job ends with a sentence that names the cause; with room again, it goes on without loss."""
    installation = scene.installation("disk-full", "events.topic=events-disk-full")
    try:
        with small_disk(installation) as tables:
            error = _error_of_a_full_disk(installation, tables)
            (tables / "ballast").unlink()
            drain(installation)
            result = judged("disk-full", installation, 2)
    except PermissionError:
        return Result("disk-full", 0, 0, 0, [], {"not tried": "only root may mount a disk"})
    if "coordinator_log cannot be written" not in error or "No space left on device" not in error:
        result.problems.append(f"does not name the cause: {error}")
    return result


def _error_of_a_full_disk(installation: Installation, tables: Path) -> str:
    """The last line of the job that filled its disk."""
    with (
        JobProcess(["run", *installation.options], installation.folder) as job,
        Commits(installation),
    ):
        await_logged(installation, _COMMITS, job)
        fill = ["dd", "if=/dev/zero", f"of={tables / 'ballast'}"]
        subprocess.run(fill, check=False, capture_output=True)  # noqa: S603 - a fixed program
        assert job.wait(RUN_S) == _FAILED, job.log
    return job.log.splitlines()[-1]


@contextmanager
def small_disk(installation: Installation) -> Iterator[Path]:
    """The tables on a disk of 4 MB; afterwards they are where they were.

    Raises:
        PermissionError: only root may mount.
    """
    tables = Path(installation.tables_root)
    kept = tables.rename(tables.with_name("kept"))
    tables.mkdir()
    try:
        mount = ["mount", "-t", "tmpfs", "-o", _DISK, "tmpfs", str(tables)]
        if subprocess.run(mount, check=False, capture_output=True).returncode != 0:  # noqa: S603 - a fixed program
            raise PermissionError("mount")
        try:
            copytree(kept, tables, dirs_exist_ok=True)
            yield tables
        finally:
            rmtree(kept)
            copytree(tables, kept)
            subprocess.run(["umount", "-l", tables], check=True)  # noqa: S603, S607 - a fixed program
    finally:
        with suppress(FileNotFoundError):
            tables.rmdir()
        kept.rename(tables)
