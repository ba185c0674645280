from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException

from group_coordinator import settings
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.positions import Sample
from group_coordinator.driver.mirror.topic import MirrorProgress, PolledCluster
from group_coordinator.mirror.sinks import MirroredBatch
from group_coordinator.tables.position import Position

NOON_MS = 1_767_268_800_000


class Time:
    def __init__(self) -> None:
        self.s = 0.0

    def now_ms(self) -> int:
        return NOON_MS + round(self.s * 1000)

    def clock(self) -> float:
        return self.s


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def progress(time: Time, caplog: pytest.LogCaptureFixture) -> MirrorProgress:
    caplog.set_level(logging.INFO)
    return MirrorProgress("offsets", time.now_ms, time.clock)


def query(message: str) -> Any:
    return SimpleNamespace(status={"isTriggerActive": True, "message": message})


IDLE = query("Processing new data")


def held(partition: int, records: int, topic: str = "offsets") -> Position:
    return Position(topic, partition, 0, 100, 100 + records)


def test_a_line_every_fifteen_seconds_if_something_was_read(
    progress: MirrorProgress, time: Time, caplog: pytest.LogCaptureFixture
) -> None:
    time.s = 4
    progress.batch_done(0, MirroredBatch(2_000, 0, NOON_MS))
    time.s = 14.9
    progress.look(IDLE)
    assert caplog.messages == []
    time.s = 16
    progress.batch_done(1, MirroredBatch(400, 0, NOON_MS + 13_000))
    progress.look(IDLE)
    time.s = 40
    progress.look(IDLE)

    assert caplog.messages == ["offsets: 2400 records, 150 records/s, 3.0 s behind"]


def test_a_wait_for_the_end_of_the_topic_is_told_after_ten_seconds_and_every_minute(
    progress: MirrorProgress, time: Time, caplog: pytest.LogCaptureFixture
) -> None:
    for at_s in (0, 9, 10, 11, 69, 70, 71):
        time.s = at_s
        progress.look(query("Getting offsets from KafkaV2[Assign[offsets-0]]"))
    assert (
        caplog.messages
        == [
            "waiting for the end offsets of topic offsets, which Kafka does not return; SIGTERM or Ctrl-C ends the wait"
        ]
        * 2
    )
    progress.look(IDLE)
    time.s = 80
    progress.look(query("Getting offsets from KafkaV2[Assign[offsets-0]]"))

    assert len(caplog.messages) == 2


def test_what_cannot_be_decoded_is_told_with_its_batch(
    progress: MirrorProgress, caplog: pytest.LogCaptureFixture
) -> None:
    progress.batch_done(7, MirroredBatch(0, 3, None))

    assert caplog.messages == [
        "batch 7: 3 messages could not be decoded: see the table dead_letters"
    ]


def test_what_an_open_transaction_holds_back_is_told_once(
    progress: MirrorProgress, caplog: pytest.LogCaptureFixture
) -> None:
    positions = [held(0, 0), held(3, 120), held(0, 5, "orders")]
    for _ in range(2):
        progress.sampled(Sample(positions, [], NOON_MS))
    progress.sampled(Sample([held(3, 0)], [], NOON_MS))
    progress.sampled(Sample([held(3, 1)], [], NOON_MS))

    assert caplog.messages == [
        "partition 3: 120 records wait for the end of a transaction",
        "partition 3: 1 records wait for the end of a transaction",
    ]


def test_a_slow_start_of_a_python_process_is_tried_again_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    no_session: Any = None
    job = settings.load().job
    monkeypatch.setattr(
        "group_coordinator.driver.mirror.topic.MIRROR", SimpleNamespace(folder=print)
    )
    polled = PolledCluster(no_session, job, Connection(job.bootstrap_servers))
    slow = StreamingQueryException("Python worker failed to connect back.")
    started: Any = SimpleNamespace(lastProgress=SimpleNamespace())

    assert [polled.may_go_on(slow) for _ in range(3)] == [True, True, False]
    polled.look(started)
    assert polled.may_go_on(slow)
    assert not polled.may_go_on(StreamingQueryException("a defect"))
