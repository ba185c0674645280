from __future__ import annotations

import shlex
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner, Result
from deltalake import write_deltalake
from kafka import TopicPartition

from group_coordinator.cli import restore
from group_coordinator.cli.main import main
from group_coordinator.clients.admin.client import AdminClient
from tests.support.claims import claimed_by_job
from tests.support.group_history import tables_of
from tests.unit.cli.groups.brokers_in_process import BrokersInProcess
from tests.unit.clients.coordinator_in_process import CoordinatorInProcess

ORDERS_0, ORDERS_1, REFUNDS_0 = (
    TopicPartition("orders", 0),
    TopicPartition("orders", 1),
    TopicPartition("refunds", 0),
)
LOGS = {ORDERS_0: (10, 50), ORDERS_1: (0, 60), REFUNDS_0: (5, 5)}
BEFORE = "--as-of 2023-11-14T22:13:50Z"
"""Half a minute after the first commits, and before the reset a minute after them."""
Run = Callable[[str], Result]
EXPIRY = datetime(2024, 1, 2, 3, 4, 5, 678_000, tzinfo=UTC)


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    offsets = pa.table(
        {
            "group_id": ["billing", "café"],
            "committed_offset": pa.array([42, None], pa.int64()),
            "expires_at": pa.array([EXPIRY, None], pa.timestamp("us", "UTC")),
            "topics": pa.array([["orders", "refunds"], None], pa.list_(pa.string())),
            "value": pa.array([b"\x00\xff", None], pa.binary()),
        }
    )
    write_deltalake(str(tmp_path / "offsets"), offsets)
    return tmp_path


@pytest.fixture
def coordinator() -> CoordinatorInProcess:
    return CoordinatorInProcess()


@pytest.fixture
def brokers() -> BrokersInProcess:
    return BrokersInProcess(LOGS)


@pytest.fixture
def admin(coordinator: CoordinatorInProcess) -> AdminClient:
    """Commits as an administrator does, before the command comes."""
    return AdminClient(channel=coordinator)


@pytest.fixture
def run(
    coordinator: CoordinatorInProcess,
    admin: AdminClient,
    brokers: BrokersInProcess,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Run:
    """A command in a folder for files, with the tables that compaction has made of the log so far."""
    monkeypatch.setattr(restore, "admin_of", lambda *_: admin)
    monkeypatch.setattr(restore, "Cluster", lambda _: brokers)
    monkeypatch.chdir(tmp_path)
    runs = count(1)

    def command(line: str) -> Result:
        root = tables_of(tmp_path / f"tables-{next(runs)}", coordinator)
        claimed_by_job(root, "test")
        arguments = [*shlex.split(line), "--cluster", "test", "--tables", str(root)]
        return CliRunner().invoke(main, arguments, catch_exceptions=False)

    return command
