"""The command's options and its refusals; samples of a real broker: tests/broker/clients/test_positions.py."""

from __future__ import annotations

import logging
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from group_coordinator.cli.main import main
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.settings import JobSettings
from group_coordinator.tables.creation import SAMPLED

NOBODY = "127.0.0.1:1"


def positions(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["positions", *arguments])


def test_options_win_over_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[Any] = []

    def sample(
        job: JobSettings,
        connection: Connection,
        topics: Collection[str] | None,
        every_s: float | None,
        _make_session: object,
    ) -> None:
        timeout_ms = connection.options.get("request_timeout_ms")
        asked.append((job.cluster_id, connection.bootstrap_servers, timeout_ms, topics, every_s))

    monkeypatch.setattr("group_coordinator.cli.positions.sample_positions", sample)
    login = tmp_path / "client.properties"
    login.write_text("request.timeout.ms=60000\n")
    in_settings = ["--set", "cluster.id=in-settings", "--set", "bootstrap.servers=in-settings:9092"]

    assert positions(*in_settings).exit_code == 0
    by_options = ["--cluster", "a=b", "--bootstrap-server", "kafka:9092", "--every", "30"]
    topics = ["--topic", "orders", "--topic", "refunds", "--command-config", str(login)]
    assert positions(*in_settings, *by_options, *topics).exit_code == 0

    assert asked == [
        ("in-settings", "in-settings:9092", None, None, None),
        ("a=b", "kafka:9092", 60_000, ("orders", "refunds"), 30),
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--every", "0"], "Invalid value for '--every': 0 is not in the range 1<=x<=31622400."),
        (["--cluster", ""], "cluster.id = : Expected `str` of length >= 1"),
    ],
)
def test_wrong_usage(arguments: list[str], message: str) -> None:
    ended = positions(*arguments)

    assert ended.exit_code == 2
    assert message in ended.stderr


def test_a_cluster_that_is_away_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    for table in SAMPLED:
        table.create_on_disk(tmp_path / table.name)

    ended = positions("--bootstrap-server", NOBODY, "--set", f"tables.root={tmp_path}")

    assert (ended.exit_code, ended.stderr) == (
        1,
        f"Error: no Kafka broker responds ({NOBODY}: Connection refused)\n",
    )
