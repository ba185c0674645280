from __future__ import annotations

from pathlib import Path

import pytest

from group_coordinator import settings
from group_coordinator.demo.folder import DemoFolder
from group_coordinator.demo.plan import Plan, settings_of


def test_what_the_closing_words_point_to_stays(tmp_path: Path) -> None:
    folder = DemoFolder(tmp_path / "demo")
    folder.make()
    folder.settings.touch()
    folder.tables.mkdir()
    folder.chart.touch()
    folder.meters.touch()
    folder.checkpoint.mkdir()

    folder.remove_scaffolding()

    left = sorted(entry.name for entry in folder.path.iterdir())
    assert left == ["chart.png", "metrics.txt", "tables"]


def test_all_of_it_can_go(tmp_path: Path) -> None:
    folder = DemoFolder(tmp_path / "demo")
    folder.make()
    folder.remove()

    assert not folder.path.exists()


def test_a_path_is_shown_as_it_can_be_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = DemoFolder(tmp_path / "my demo")

    assert folder.shown(folder.tables) == "'my demo/tables'"


def test_the_settings_are_read_by_every_command(tmp_path: Path) -> None:
    folder = DemoFolder(tmp_path)
    plan = Plan(50, 150, 90, keep=False, bootstrap_servers="a:9092", topic_prefix='demo"1-')
    folder.write_settings(settings_of(plan, folder, "a:9092", "a:1"))

    chosen = settings.load(folder.settings)

    assert chosen.job.metrics_listen == "a:1"
    assert chosen.coordinator.retention_ms == 60_000
    assert chosen.job.events_topic == 'demo"1-group-events'
    assert chosen.job.tables_root == str(tmp_path / "tables")
