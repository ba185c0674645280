"""The job as it runs on a cluster: from the wheel, by spark-submit, on a master and two workers (tests/cluster)."""

from __future__ import annotations

import pytest

from group_coordinator.local.broker import EmbeddedBroker
from tests.cluster.life import one_life
from tests.cluster.stage import open_stage

pytestmark = [pytest.mark.spark, pytest.mark.kafka]


def test_nothing_is_lost_whatever_is_killed(
    tmp_path_factory: pytest.TempPathFactory, broker: EmbeddedBroker
) -> None:
    with open_stage(tmp_path_factory.mktemp("cluster"), broker) as stage:
        result = one_life(stage)

    assert (result.problems, result.lost, result.doubled) == ([], 0, 0)
