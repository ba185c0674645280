"""A second cluster that writes the same tables, in a process of its own and without Spark: many times a second."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from threading import Event, Thread

from deltalake import DeltaTable, Transaction

import group_coordinator
from group_coordinator.tables.append import append_on_disk
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.compaction import compaction
from group_coordinator.tables.compaction.rows import Retention
from tests.support.job_process import ROOT
from tests.support.log_rows import Log

CLUSTER_ID = "west"
_PAUSE_S = 0.05
_RETENTION = Retention(retention_ms=60_000, check_interval_ms=10_000)
_OURS = Path(group_coordinator.__file__).parents[1]


class OtherCluster:
    """Its process; batch N commits offset N of group billing, and is compacted before the next one."""

    def __init__(self, root: Path) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - a fixed program
            [sys.executable, "-m", "tests.support.other_cluster", str(root)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (_OURS, ROOT)))},
            text=True,
        )

    def until_it_writes(self) -> None:
        """Return when it has written its first batch."""
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "writes\n"

    def end(self) -> int:
        """End it between two batches; how many it has written."""
        said, _ = self._process.communicate(timeout=60)
        assert self._process.returncode == 0
        return int(said)

    def kill(self) -> None:
        """End it if it is still there."""
        self._process.kill()
        self._process.wait()


def _write(root: Path, batch_id: int) -> None:
    log = Log(batch_id, now_ms=batch_id * 1_000, cluster_id=CLUSTER_ID)
    log.commit("billing", "orders", 0, batch_id)
    folder, once = root / "coordinator_log", Transaction(CLUSTER_ID, batch_id)
    append_on_disk(DeltaTable(folder), folder, log.table(), once)
    compaction.compact(TableCatalog(str(root)), CLUSTER_ID, log.entries(), _RETENTION, once)


def _write_until_told(root: Path) -> None:
    stopped = Event()
    Thread(target=lambda: (sys.stdin.read(), stopped.set()), daemon=True).start()
    batches = 0
    while not stopped.wait(_PAUSE_S):
        _write(root, batches)
        batches += 1
        if batches == 1:
            print("writes", flush=True)  # noqa: T201 - the test reads it
    print(batches)  # noqa: T201 - the test reads it


if __name__ == "__main__":
    _write_until_told(Path(sys.argv[1]))
