from __future__ import annotations

from pathlib import Path

import pytest

from group_coordinator import settings
from group_coordinator.demo.stage import DemoFolder


def test_the_files_that_the_closing_page_names_stay(tmp_path: Path) -> None:
    folder = DemoFolder(tmp_path / "demo")
    folder.make()
    for file in (folder.settings, folder.report, folder.metrics):
        file.touch()
    for path in (folder.tables, folder.checkpoint):
        path.mkdir()

    folder.remove_scaffolding()

    left = sorted(entry.name for entry in folder.path.iterdir())
    assert left == ["metrics.txt", "report.html", "tables"]
    folder.remove()
    assert not folder.path.exists()


def test_a_path_is_shown_as_it_can_be_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = DemoFolder(tmp_path / "my demo")

    assert folder.shown(folder.tables) == "'my demo/tables'"


def test_every_command_can_read_the_settings(tmp_path: Path) -> None:
    folder = DemoFolder(tmp_path)
    folder.write_settings({"events.topic": 'demo"1-events', "offsets.retention.ms": 60_000})

    chosen = settings.load(folder.settings)

    assert chosen.coordinator.retention_ms == 60_000
    assert chosen.job.events_topic == 'demo"1-events'
    assert chosen.job.tables_root == str(tmp_path / "tables")
