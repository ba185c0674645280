from __future__ import annotations

import pytest

from group_coordinator.local.broker import EmbeddedBroker
from tests.end_to_end.installation import Installation, installed


@pytest.fixture(scope="module")
def installation(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    broker: EmbeddedBroker,
) -> Installation:
    """Topics with the module's name on the session's broker, and tables, as `init` makes them."""
    name = request.module.__name__.rpartition(".test_")[2]
    folder = tmp_path_factory.mktemp(name)
    return installed(Installation.named(name, broker.bootstrap_servers, folder))
