from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from group_coordinator.local.broker import EmbeddedBroker
from tests.end_to_end.installation import Installation
from tests.support.job_process import JobProcess


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """A broker with the topics, and the tables, as `init` makes them."""
    folder: Path = tmp_path_factory.mktemp("job")
    with EmbeddedBroker() as broker:
        made = Installation(broker.bootstrap_servers, folder)
        with JobProcess(["init", *made.options], folder) as init:
            assert init.wait(300) == 0, init.log
        yield made
