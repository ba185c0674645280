"""The cheapest of the faults that `python -m tests.faults` injects."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from kafka import KafkaConsumer, OffsetAndMetadata, TopicPartition

from group_coordinator.local.broker import EmbeddedBroker
from tests.end_to_end.installation import Installation, installed
from tests.faults.changed_settings import settings_changed
from tests.faults.kills import driver_killed
from tests.faults.members_away import members_outlive_an_outage
from tests.faults.outages import broker_away, disk_full
from tests.faults.scene import Scene, open_scene
from tests.faults.soak import soak
from tests.faults.wrong_clock import clock_ahead
from tests.support.job_process import JobProcess

pytestmark = [pytest.mark.spark, pytest.mark.kafka]


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory, broker: EmbeddedBroker) -> Iterator[Scene]:
    with open_scene(tmp_path_factory.mktemp("faults"), broker.bootstrap_servers) as opened:
        yield opened


def test_kills_amid_the_responses_after_the_log_and_between_merges_leave_no_trace(
    scene: Scene,
) -> None:
    steps = ["amid-the-responses", "after-the-log-of-many-events", "between-members-and-offsets"]
    result = driver_killed(scene, "three-kills", steps)

    assert (result.problems, result.lost, result.doubled) == ([], 0, 0)


def test_kills_while_events_keep_flowing_leave_no_trace(scene: Scene) -> None:
    result = soak(scene, kills=2, seed=1)

    assert (result.problems, result.lost, result.doubled) == ([], 0, 0)


def test_a_broker_that_goes_and_comes_back_leaves_no_trace(scene: Scene) -> None:
    result = broker_away(scene, away_s=5)

    assert (result.problems, result.lost, result.doubled) == ([], 0, 0)


def test_members_outlive_an_outage_that_is_longer_than_their_sessions(scene: Scene) -> None:
    result = members_outlive_an_outage(scene, away_s=20)

    assert result.problems == []


def test_a_batch_is_done_again_with_the_settings_that_it_began_with(scene: Scene) -> None:
    result = settings_changed(scene)

    assert (result.problems, result.lost, result.doubled) == ([], 0, 0)


def test_a_clock_that_is_a_minute_ahead_is_refused(scene: Scene) -> None:
    assert clock_ahead(scene).problems == []


def test_a_full_disk_is_named_and_leaves_no_trace(scene: Scene) -> None:
    result = disk_full(scene)
    if not result.runs:
        pytest.skip(result.figures["not tried"])

    assert (result.problems, result.lost, result.doubled) == ([], 0, 0)


def test_a_signal_ends_runs_whose_broker_does_not_answer(tmp_path: Path) -> None:
    partition = TopicPartition("group-events", 0)
    with EmbeddedBroker() as broker:
        installation = installed(Installation(broker.bootstrap_servers, tmp_path))
        with KafkaConsumer(bootstrap_servers=broker.bootstrap_servers, group_id="old") as consumer:
            consumer.assign([partition])
            consumer.commit({partition: OffsetAndMetadata(42, "", -1)})
        with (
            JobProcess(["run", *installation.options], tmp_path) as run,
            JobProcess(
                ["mirror", *installation.options, "--cluster", "mirrored"], tmp_path
            ) as mirror,
        ):
            installation.admin().alter_consumer_group_offsets("new", {partition: 43})
            both = "SELECT DISTINCT group_id FROM coordinator_log WHERE group_id IN ('old', 'new')"
            mirror.until(lambda: len(installation.rows(both)) == 2, seconds=300, awaited="both")
            os.kill(broker.pid, signal.SIGSTOP)
            try:
                statuses = [run.stop(), mirror.stop()]
            finally:
                os.kill(broker.pid, signal.SIGCONT)

            assert set(statuses) <= {0, 1}, (run.log, mirror.log)
            assert "Traceback" not in run.log + mirror.log
