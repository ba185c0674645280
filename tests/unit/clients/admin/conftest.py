from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from group_coordinator.clients import AdminClient, AsyncAdminClient
from group_coordinator.clients.admin import offset_operations
from tests.unit.clients.admin.stage import Awaited, Brokers, coordinator_with_groups, write_tables
from tests.unit.clients.coordinator_in_process import CoordinatorInProcess


@pytest.fixture(scope="session")
def tables_root(tmp_path_factory: pytest.TempPathFactory) -> str:
    root: Path = tmp_path_factory.mktemp("tables")
    write_tables(root)
    return str(root)


@pytest.fixture
def stage() -> CoordinatorInProcess:
    return coordinator_with_groups()


@pytest.fixture(params=[AdminClient, AsyncAdminClient])
def admin(
    request: pytest.FixtureRequest,
    stage: CoordinatorInProcess,
    tables_root: str,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Any]:
    """Each of the two clients; the calls of the second one are awaited."""
    monkeypatch.setattr(offset_operations, "Cluster", Brokers)
    client = request.param(channel=stage, tables_root=tables_root, cluster_id="ours")
    if isinstance(client, AdminClient):
        with client:
            yield client
        return
    with asyncio.Runner() as runner:
        awaited = Awaited(client, runner)
        yield awaited
        awaited.close()
