"""A year of a thousand groups: how long does each view's example take?

    python -m tests.benchmarks.year [--days 365] [--groups 1000] [--folder FOLDER] [--no-spark] [--about-all]

Each partition is committed 208 times a day: more than 300 million commits in a year, whatever hour of its last day it is. The
tables get what history.full.ms = 7 days and history.hourly.ms = 30 days leave of them, and what positions.full.ms = 7 days (and
positions.retention.ms = 0) leaves of samples every 30 seconds. The days are appended one by one. Then the upkeep of the log runs as in the job: it sorts what is older than today
(before seven in the morning, UTC: than yesterday), and must find nothing to remove, or what is kept here were not what thinning keeps.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from deltalake import DeltaTable
from rich.console import Console
from rich.table import Column, Table

from group_coordinator import settings
from group_coordinator.tables.coordinator_log import COORDINATOR_LOG
from group_coordinator.tables.maintenance import Maintenance, Notebook
from group_coordinator.tables.maintenance_work import MaintenanceNote
from group_coordinator.tables.samples import TOPIC_POSITIONS
from tests.benchmarks.measured import show
from tests.benchmarks.year.cluster import Cluster
from tests.benchmarks.year.questions import ABOUT_ALL, by_command, by_query, by_spark, examples
from tests.benchmarks.year.tables import RULE, Year

A_DAY = 208
_say = Console(stderr=True).print


def make(root: Path, groups: int, days: int, now_ms: int) -> Mapping[str, float]:
    """Write the tables, and give the log its upkeep."""
    begun_s = time.monotonic()
    year = Year(Cluster(groups), days, A_DAY, now_ms)
    year.write(root, _say)
    written_s = time.monotonic()
    before = _rows(root, COORDINATOR_LOG.name)
    _look_after(root, now_ms)
    after = _rows(root, COORDINATOR_LOG.name)
    assert after == before, f"thinning removed {before - after} rows that this module keeps"
    return {
        "commits": year.commits,
        "rows_of_the_log": after,
        "rows_of_topic_positions": _rows(root, TOPIC_POSITIONS.name),
        "megabytes_of_the_log": round(_bytes(root, COORDINATOR_LOG.name) / 1e6),
        "files_of_the_log": len(DeltaTable(root / COORDINATOR_LOG.name).file_uris()),
        "writing_s": round(written_s - begun_s),
        "upkeep_s": round(time.monotonic() - written_s),
    }


def _look_after(root: Path, now_ms: int) -> None:
    job = settings.load(overrides=[f"tables.root={root}"]).job
    job = replace(job, history_full_ms=RULE.full_ms, history_hourly_ms=RULE.hourly_ms)
    pages: list[dict[str, MaintenanceNote]] = []
    notebook = Notebook(lambda: pages[-1] if pages else {}, pages.append)
    Maintenance(None, job, [COORDINATOR_LOG, TOPIC_POSITIONS], notebook).look(now_ms)


def _rows(root: Path, table: str) -> int:
    return DeltaTable(root / table).to_pyarrow_dataset().count_rows()


def _bytes(root: Path, table: str) -> int:
    return sum(Path(uri).stat().st_size for uri in DeltaTable(root / table).file_uris())


def main() -> None:
    """Print the tables and the JSON."""
    chosen = _arguments()
    with TemporaryDirectory() as scratch:
        root = chosen.folder or Path(scratch)
        if not (root / COORDINATOR_LOG.name).exists():
            now_ms = time.time_ns() // 1_000_000
            show("A year", make(root, chosen.groups, chosen.days, now_ms))
        questions = examples() | (ABOUT_ALL if chosen.about_all else {})
        ways = {"command_s": by_command, "query_s": by_query}
        if not chosen.no_spark:
            ways["spark_s"] = by_spark
        taken = {name: ask(root, questions) for name, ask in ways.items()}
        table = Table("question", *(Column(way, justify="right") for way in taken))
        for question in questions:
            table.add_row(question, *(f"{of_way[question]:.2f}" for of_way in taken.values()))
        Console().print(table)
        show("Answers", {f"{q} {way}": s for way, of in taken.items() for q, s in of.items()})


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--groups", type=int, default=1_000)
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--folder", type=Path, help="where the tables are, or are made and stay")
    parser.add_argument("--no-spark", action="store_true")
    parser.add_argument(
        "--about-all", action="store_true", help="also questions that read the whole year"
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
