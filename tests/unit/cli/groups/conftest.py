from __future__ import annotations

import shlex
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest
from click.testing import CliRunner
from deltalake import write_deltalake
from kafka import TopicPartition
from pyarrow import Table

from group_coordinator.cli import groups
from group_coordinator.cli.groups import output
from group_coordinator.clients.admin.client import AdminClient
from tests.unit.cli.groups.brokers_in_process import BrokersInProcess
from tests.unit.clients.coordinator_in_process import CoordinatorInProcess

BILLING = {TopicPartition("orders", 0): 40, TopicPartition("orders", 1): 60}


class Said(NamedTuple):
    """How a command ended, and what it printed."""

    status: int
    out: str
    err: str


Run = Callable[[str], Said]


@pytest.fixture
def run(
    coordinator: CoordinatorInProcess,
    brokers: BrokersInProcess,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Run:
    """`groups`, with the coordinator and brokers of this process; its tables list the group billing, and others."""
    monkeypatch.setattr(groups, "AdminClient", partial(AdminClient, channel=coordinator))
    monkeypatch.setattr(output, "Cluster", lambda _: brokers)
    listed = ["archive", "billing", "console-consumer-1", "console-consumer-2"]
    columns = {
        "cluster_id": ["default"] * len(listed),
        "group_id": listed,
        "group_type": ["classic"] * len(listed),
        "state": ["Empty"] * len(listed),
        "protocol_type": [""] * len(listed),
    }
    write_deltalake(str(tmp_path / "groups"), Table.from_pydict(columns))

    def command(line: str) -> Said:
        arguments = [*shlex.split(line), "--set", f"tables.root={tmp_path}"]
        result = CliRunner().invoke(groups.command, arguments, catch_exceptions=False)
        return Said(result.exit_code, result.stdout, result.stderr)

    return command
