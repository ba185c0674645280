"""The command's options; what a mirror does: tests/spark/test_mirror.py."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from group_coordinator.cli.main import main
from group_coordinator.driver.mirror.run import MirrorOptions
from group_coordinator.settings import Settings

NOBODY = "127.0.0.1:1"


def mirror(folder: Path, *arguments: str) -> Result:
    where = ["--set", f"tables.root={folder}/t", "--set", f"checkpoint.location={folder}/c"]
    return CliRunner().invoke(main, ["mirror", *arguments, *where])


def test_options_win_over_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[tuple[Settings, Collection[str], MirrorOptions]] = []

    def run(
        settings: Settings, given: Collection[str], _make_session: Any, options: MirrorOptions
    ) -> None:
        asked.append((settings, given, options))

    monkeypatch.setattr("group_coordinator.cli.mirror.run_mirror", run)
    login = tmp_path / "client.properties"
    login.write_text("request.timeout.ms=60000\n")
    options = ["--bootstrap-server", NOBODY, "--cluster", "eu-1", "--topic", "a-copy", "--drain"]
    result = mirror(
        tmp_path, *options, "--command-config", str(login), "--set", "cluster.id=in-settings"
    )

    assert result.output == ""
    [(settings, given, seen)] = asked
    job = settings.job
    assert (job.bootstrap_servers, job.cluster_id, job.events_topic) == (NOBODY, "eu-1", "a-copy")
    assert job.checkpoint_location == f"{tmp_path}/c/mirror-eu-1"
    assert given == {"cluster.id", "tables.root", "checkpoint.location"}
    assert (seen.drain, seen.with_compaction) == (True, False)
    assert seen.java == {"request.timeout.ms": "60000"}
    assert seen.python == {"request_timeout_ms": 60_000}


def test_a_cluster_that_does_not_answer_is_named_and_no_table_is_made(tmp_path: Path) -> None:
    result = mirror(tmp_path, "--bootstrap-server", NOBODY)

    assert result.exit_code == 1
    assert result.output.startswith("Error: no Kafka broker responds (127.0.0.1:1: ")
    assert not (tmp_path / "t").exists()
