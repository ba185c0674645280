from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from group_coordinator.local.broker import EmbeddedBroker
from tests.end_to_end.commits import Commits, await_logged, logged
from tests.end_to_end.installation import Installation
from tests.job_process import JobProcess

pytestmark = [pytest.mark.spark, pytest.mark.kafka]

AWAY_S = float(os.environ.get("BROKER_AWAY_S", "5"))
"""How long the broker is away; Kafka's clients give up after 60 to 180 s."""


class Place:
    """A port and a folder where one broker after another lives."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._broker = EmbeddedBroker(folder)
        self._broker.start()

    @property
    def bootstrap_servers(self) -> str:
        return self._broker.bootstrap_servers

    def empty(self) -> None:
        self._broker.stop()

    def fill(self) -> None:
        port = int(self.bootstrap_servers.partition(":")[2])
        self._broker = EmbeddedBroker(self._folder, port)
        self._broker.start()


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with ExitStack() as resources:
        made = Place(tmp_path / "broker")
        resources.callback(made.empty)
        yield made


@pytest.fixture
def installation(place: Place, tmp_path: Path) -> Installation:
    made = Installation(place.bootstrap_servers, tmp_path)
    with JobProcess(["init", *made.options], tmp_path) as init:
        assert init.wait(300) == 0, init.log
    return made


def test_a_broker_that_goes_and_comes_back(place: Place, installation: Installation) -> None:
    with JobProcess(["run", *installation.options], installation.folder) as job:
        with Commits(installation):
            await_logged(installation, 100, job)
        place.empty()
        time.sleep(AWAY_S)
        job.check_alive()
        place.fill()
        before = logged(installation)
        with Commits(installation):
            await_logged(installation, before + 100, job)
        assert job.stop() == 0, job.log

    with JobProcess(["run", "--drain", *installation.options], installation.folder) as job:
        assert job.wait(400) == 0, job.log
    assert logged(installation) == len(installation.expected_lines("L"))
    assert installation.answers().keys() == installation.asked_ids()
