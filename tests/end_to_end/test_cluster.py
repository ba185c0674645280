"""The job as it runs on a cluster: from the wheel, by spark-submit, on a master and two workers (tests/cluster)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from group_coordinator.local.broker import EmbeddedBroker
from tests.cluster.life import one_life
from tests.cluster.stage import Stage, open_stage
from tests.cluster.strangers import strangers

pytestmark = [pytest.mark.spark, pytest.mark.kafka]


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory, broker: EmbeddedBroker) -> Iterator[Stage]:
    with open_stage(tmp_path_factory.mktemp("cluster"), broker) as opened:
        yield opened


def test_nothing_is_lost_whatever_is_killed(stage: Stage) -> None:
    result = one_life(stage)

    assert (result.problems, result.lost, result.doubled) == ([], 0, 0)


def test_nobody_without_the_secret_is_taken_in(stage: Stage) -> None:
    result = strangers(stage)

    assert (result.problems, result.lost, result.doubled) == ([], 0, 0)
