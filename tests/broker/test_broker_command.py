from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from kafka import KafkaAdminClient

from group_coordinator.cli.main import main
from group_coordinator.local.broker import free_ports
from group_coordinator.local.folders import cache_folder
from group_coordinator.local.jars import broker_jars

pytestmark = pytest.mark.kafka


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache of the test's own, so that it does not meet the user's broker; the jars are shared."""
    broker_jars()
    jars = cache_folder("jars")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "group-coordinator").mkdir()
    (tmp_path / "group-coordinator" / "jars").symlink_to(jars)


def broker(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["broker", *arguments])


def test_start_twice_and_stop(tmp_path: Path) -> None:
    [port] = free_ports(1)
    address = f"127.0.0.1:{port}"

    started = broker("start", "--port", str(port))
    again = broker("start")
    KafkaAdminClient(bootstrap_servers=address).close()
    stopped = broker("stop")

    assert (started.exit_code, started.stdout) == (0, f"{address}\n")
    assert (again.exit_code, again.stderr) == (1, f"Error: A broker already runs at {address}\n")
    assert (stopped.exit_code, stopped.stdout) == (0, f"{address}\n")
    assert not (tmp_path / "group-coordinator" / "run" / "broker").exists()


def test_stop_without_a_broker() -> None:
    stopped = broker("stop")

    assert (stopped.exit_code, stopped.stderr) == (1, "Error: No broker runs\n")


def test_a_folder_of_ones_own_is_kept(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    [port] = free_ports(1)

    started = broker("start", "--data", str(folder), "--port", str(port))
    stopped = broker("stop")

    assert (started.exit_code, stopped.exit_code) == (0, 0)
    assert (folder / "data" / "meta.properties").exists()
