from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from group_coordinator.clients import sql_tables
from tests.support.until import until

pytestmark = [pytest.mark.kafka, pytest.mark.spark]
END_S = 900
"""A demo takes two to four minutes, and longer on a busy machine."""

SMALL = ("--groups", "13", "--members", "32", "--duration", "20")


class RunningDemo:
    """The command as a user starts it, without a terminal."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self._output = folder / "output.txt"
        with self._output.open("wb") as file:
            self.process = subprocess.Popen(  # noqa: S603 - a fixed program
                [sys.executable, "-m", "group_coordinator.cli.main", "demo", *arguments],
                cwd=folder,
                stdout=file,
                stderr=subprocess.STDOUT,
            )

    @property
    def output(self) -> str:
        return self._output.read_text(encoding="utf-8")

    def await_output(self, text: str) -> None:

        def is_printed() -> bool:
            found = text in self.output
            assert found or self.process.poll() is None, self.output
            return found

        until(is_printed, seconds=END_S, awaited=lambda: f"{text!r}: {self.output}", poll_s=0.1)


def processes_of(folder: Path) -> list[str]:
    listing = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)  # noqa: S607 - a fixed program
    return [line for line in listing.stdout.splitlines() if str(folder) in line]


def test_a_short_demo(tmp_path: Path) -> None:
    demo = RunningDemo(tmp_path, *SMALL)

    assert demo.process.wait(END_S) == 0, demo.output

    for text in (
        "29 members join them",
        "returns-desk: all members leave.",
        "1. Which groups lost which offsets, when, why, and by whom?",
        "kafka_server_group_coordinator_metrics_offset_commit_count",
        "queries of the dashboard find their series here",
        "What is left",
    ):
        assert text in demo.output
    [folder] = tmp_path.glob("group-coordinator-demo-*")
    assert sorted(entry.name for entry in folder.iterdir()) == [
        "metrics.txt",
        "report.html",
        "tables",
    ]
    tables = str(folder / "tables")
    [log] = sql_tables.rows(
        tables, "SELECT count(DISTINCT group_id) AS groups FROM coordinator_log"
    )
    [groups] = sql_tables.rows(tables, "SELECT count(*) AS groups FROM groups")
    assert log == {"groups": 13}
    assert groups["groups"] > 0
    assert processes_of(tmp_path) == []


def test_a_short_demo_of_the_mirror(tmp_path: Path) -> None:
    demo = RunningDemo(tmp_path, "--mirror", "--duration", "20")

    assert demo.process.wait(END_S) == 0, demo.output

    [folder] = tmp_path.glob("group-coordinator-demo-*")
    assert sorted(entry.name for entry in folder.iterdir()) == ["report.html", "tables"]
    assert processes_of(tmp_path) == []
    assert "1. Which groups lost which offsets, when, why, and by whom?" in demo.output
    assert "NonEmptyGroupError" in demo.output  # billing, deleted by mistake
    assert "search-index: as of " in demo.output  # the reset that `restore` undoes

    def told(sql: str) -> list[tuple[Any, ...]]:
        return [tuple(row.values()) for row in sql_tables.rows(str(folder / "tables"), sql)]

    assert told(
        "SELECT group_id, topic, reason, inferred, count(*) FROM lost_offsets "
        "WHERE reason <> 'offset-expired' GROUP BY group_id, topic, reason, inferred ORDER BY group_id"
    ) == [
        ("customer-care", "gift-cards", "topic-deleted", True, 2),
        ("loyalty-points", "payments", "offset-deleted", True, 2),
        ("spring-sale", "clicks", "group-deleted", True, 3),
    ]
    resets = told(
        "SELECT partition, `before`, `after` FROM audit "
        "WHERE group_id = 'recommendations' AND change = 'reset' ORDER BY partition"
    )
    assert [(partition, after) for partition, _, after in resets] == [(0, 0), (1, 0), (2, 0)]
    assert all(before > 0 for _, before, _ in resets)
    lags = dict(told("SELECT group_id, max_lag FROM group_status"))
    in_trouble = min(lags[group] for group in ("warehouse", "mobile-push", "sales-report"))
    assert in_trouble > max(lags[group] for group in ("checkout", "billing", "fraud-check"))
    # On a slow machine the minute is over before the demo is.
    gone = told("SELECT group_id FROM lost_offsets WHERE reason = 'offset-expired'")
    going = told("SELECT group_id FROM expiring_soon WHERE expires_at IS NOT NULL")
    assert {*gone, *going} == {("newsletter",), ("returns-desk",), ("search-index",)}


def test_a_short_demo_of_the_gateway(tmp_path: Path) -> None:
    demo = RunningDemo(tmp_path, "--gateway", "--duration", "20")

    assert demo.process.wait(END_S) == 0, demo.output

    [folder] = tmp_path.glob("group-coordinator-demo-*")
    assert sorted(entry.name for entry in folder.iterdir()) == ["report.html", "tables"]
    assert processes_of(tmp_path) == []
    assert "'billing' could not be deleted due to" in demo.output  # it has members
    lost = sql_tables.rows(
        str(folder / "tables"),
        "SELECT group_id, topic, reason, count(*) AS partitions FROM lost_offsets "
        "WHERE reason <> 'offset-expired' GROUP BY group_id, topic, reason ORDER BY group_id",
    )
    assert [tuple(row.values()) for row in lost] == [
        ("loyalty-points", "payments", "offset-deleted", 2),
        ("spring-sale", "clicks", "group-deleted", 3),
    ]


def test_ctrl_c_leaves_nothing_behind(tmp_path: Path) -> None:
    demo = RunningDemo(tmp_path, *SMALL)
    demo.await_output("The job starts")
    demo.process.send_signal(signal.SIGINT)

    assert demo.process.wait(60) == 130
    assert demo.output.endswith("Interrupted. Nothing runs any more, and nothing is left behind.\n")
    assert list(tmp_path.glob("group-coordinator-demo-*")) == []
    assert processes_of(tmp_path) == []
