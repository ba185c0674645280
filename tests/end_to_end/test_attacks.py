"""The attacks of tests/attack that are quick and measure no time. They need a broker with other listeners than those of test_security.py."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.attack.__main__ import attacks
from tests.attack.stage import Stage, open_stage

pytestmark = pytest.mark.kafka

QUICK = (
    "frames-above-limit",
    "long-name",
    "connections-of-one-address",
    "topics-of-the-job",
    "unknown-topic-ids",
    "metadata-looks",
    "groups-that-are-no-text",
    "lent-certificate",
    "passwords-in-clear-text",
)
PLAYS = {attack.name: attack.play for attack in attacks(connections=0)}


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    folder: Path = tmp_path_factory.mktemp("attacks")
    with open_stage(folder) as opened:
        yield opened


@pytest.mark.parametrize("name", QUICK)
def test_an_attack_is_refused(stage: Stage, name: str) -> None:
    outcome = PLAYS[name](stage)

    assert outcome.problems == [], outcome
