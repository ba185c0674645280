"""What an append to coordinator_log costs as the table grows, and how many files there are, with upkeep and without.

    python -m tests.benchmarks.upkeep [--appends 5000] [--only with-upkeep|without]

One append a second, as a busy coordinator writes them; the clock is played: the Delta log's files are made older as
seconds pass, and maintenance (tables/maintenance.py) looks every sixtieth one. No JVM is started. Without upkeep nobody
looks, and Delta keeps its log for seven days.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable, Transaction
from rich.console import Console

from group_coordinator import settings
from group_coordinator.tables.append import append_on_disk
from group_coordinator.tables.coordinator_log import COORDINATOR_LOG
from group_coordinator.tables.maintenance import LOOK_EVERY_S, Maintenance, Notebook
from group_coordinator.tables.maintenance_work import MaintenanceNote
from tests.benchmarks.measured import show

NOON_MS = 1_764_000_000_000
ROWS = 50
STEP = 1_000
CHECKPOINT = 50
VALUES = {"string": "x", "integer": 1, "long": 1, "timestamp": 1, "boolean": False}
WAYS = ("with-upkeep", "without")
NO_SPARK: Any = None


def batch() -> pa.Table:
    """The records of a small batch."""
    row = {column.name: VALUES[column.dataType.typeName()] for column in COORDINATOR_LOG.schema}
    return pa.Table.from_pylist([row] * ROWS, COORDINATOR_LOG.no_rows().schema)


def run(way: str, appends: int) -> Iterator[Mapping[str, float]]:
    """After every thousand appends: the median of their times, and the files."""
    with TemporaryDirectory() as root:
        folder = Path(root) / COORDINATOR_LOG.name
        COORDINATOR_LOG.create_on_disk(folder)
        if way == "without":
            for_a_week = {"delta.logRetentionDuration": "interval 7 days"}
            DeltaTable(folder).alter.set_table_properties(for_a_week)
        maintenance = maintenance_of(root) if way == "with-upkeep" else None
        rows, seconds = batch(), []
        for second in range(1, appends + 1):
            began = time.perf_counter()
            append_on_disk(DeltaTable(folder), folder, rows, Transaction("benchmark", second))
            seconds.append(time.perf_counter() - began)
            if second % CHECKPOINT == 0:
                grow_old(folder, CHECKPOINT)
            if maintenance is not None and second % LOOK_EVERY_S == 0:
                maintenance.look(NOON_MS + second * 1_000)
            if second % STEP == 0:
                yield {"appends": second, **measured(folder, seconds[-STEP:])}


def maintenance_of(root: str) -> Maintenance:
    """With the default settings."""
    pages: list[dict[str, MaintenanceNote]] = []
    job = settings.load(overrides=[f"tables.root={root}"]).job
    notebook = Notebook(lambda: pages[-1] if pages else {}, pages.append)
    return Maintenance(NO_SPARK, job, [COORDINATOR_LOG], notebook)


def grow_old(folder: Path, seconds: int) -> None:
    """Let seconds pass for the files of the Delta log."""
    for file in (folder / "_delta_log").iterdir():
        time_s = file.stat().st_mtime - seconds
        os.utime(file, (time_s, time_s))


def measured(folder: Path, seconds: list[float]) -> dict[str, float]:
    """Of the last appends."""
    return {
        "append_ms": round(statistics.median(seconds) * 1_000, 1),
        "slowest_ms": round(max(seconds) * 1_000, 1),
        "files_of_the_table": len(DeltaTable(folder).file_uris()),
        "commits_in_the_delta_log": len(list(folder.glob("_delta_log/*.json"))),
    }


def main() -> None:
    """Print the table and the JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--appends", type=int, default=5_000)
    parser.add_argument("--only", choices=WAYS, help="by default one after the other")
    arguments = parser.parse_args()
    say = Console(stderr=True).print
    result: dict[str, float] = {"appends": arguments.appends}
    for way in [arguments.only] if arguments.only else WAYS:
        for step in run(way, arguments.appends):
            say(way, dict(step))
            result |= {f"{way} {step['appends']} {name}": value for name, value in step.items()}
    show("Upkeep", result)


if __name__ == "__main__":
    main()
