from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import pytest
from kafka import TopicPartition
from kafka.errors import KafkaConnectionError

from group_coordinator.driver.metrics.collector import Unread
from tests.unit.driver.metrics.scraped import shown

TOPIC = "group-events"
AGO_S = {0: 30, 1: 100, 2: 5}
BEGIN, END = 10, {0: 20, 1: 50, 2: 40}


class Kafka:
    """A connection, and the consumer that it opens: three partitions, each event of one as old as the others."""

    def __init__(self) -> None:
        self.is_away = False
        self.opened = 0
        self.sought: dict[int, int] = {}

    def local_address(self) -> str:
        return "127.0.0.1"

    def open(self, *_: object, **__: object) -> Kafka:
        self.opened += 1
        return self

    def close(self, **_: object) -> None: ...

    def partitions_for_topic(self, topic: str) -> set[int]:
        if self.is_away:
            raise KafkaConnectionError("no broker")
        assert topic == TOPIC
        return set(END)

    def beginning_offsets(self, partitions: list[TopicPartition]) -> dict[TopicPartition, int]:
        return dict.fromkeys(partitions, BEGIN)

    def end_offsets(self, partitions: list[TopicPartition]) -> dict[TopicPartition, int]:
        return {partition: END[partition.partition] for partition in partitions}

    def assign(self, partitions: list[TopicPartition]) -> None:
        self.sought = {partition.partition: -1 for partition in partitions}

    def seek(self, partition: TopicPartition, offset: int) -> None:
        self.sought[partition.partition] = offset

    def poll(self, _timeout_ms: int, max_records: int) -> dict[TopicPartition, list[Any]]:
        """One partition at a time."""
        assert max_records == len(self.sought)
        number = next(iter(self.sought))
        at_ms = time.time_ns() // 1_000_000 - AGO_S[number] * 1000
        return {TopicPartition(TOPIC, number): [SimpleNamespace(timestamp=at_ms)]}


def behind(kafka: Kafka, read_to: dict[int, int]) -> dict[str, float]:
    unread = Unread(kafka, TOPIC, lambda: read_to)  # type: ignore[arg-type]
    unread.look()
    return shown(unread.families())


def test_who_has_read_all_is_not_behind() -> None:
    assert behind(Kafka(), END) == {
        "group_coordinator_behind_events": 0,
        "group_coordinator_behind_seconds": 0,
    }


def test_the_oldest_event_says_how_far_behind() -> None:
    found = behind(Kafka(), {0: 15, 1: 49, 2: 40})

    assert found["group_coordinator_behind_events"] == 6
    assert found["group_coordinator_behind_seconds"] == pytest.approx(100, abs=2)


def test_what_the_topic_has_no_more_is_not_waited_for() -> None:
    assert behind(Kafka(), {})["group_coordinator_behind_events"] == 10 + 40 + 30


def test_without_kafka_nothing_is_known_until_it_is_back() -> None:
    kafka = Kafka()
    unread = Unread(kafka, TOPIC, lambda: END)  # type: ignore[arg-type]
    unread.look()
    kafka.is_away = True
    unread.look()
    assert shown(unread.families()) == {}
    kafka.is_away = False
    unread.look()

    assert shown(unread.families())["group_coordinator_behind_events"] == 0
    assert kafka.opened == 2
