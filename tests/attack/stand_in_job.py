"""The state machine behind the job's two topics, without Spark: it answers within milliseconds."""

from __future__ import annotations

import time
from threading import Event, Thread
from typing import Any, Self

from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from msgspec import json

from group_coordinator.runtime.replay_session import Replay
from group_coordinator.settings import Settings


class StandInJob:
    """Takes the events in their order. Both topics have one partition."""

    def __init__(self, settings: Settings, login: dict[str, Any]) -> None:
        job = settings.job
        self._responses_topic = job.responses_topic
        self._replay = Replay(settings.coordinator)
        servers = job.bootstrap_servers
        self._producer = KafkaProducer(
            bootstrap_servers=servers, max_request_size=8 * 1024 * 1024, **login
        )
        self._consumer = KafkaConsumer(
            bootstrap_servers=servers,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            check_crcs=False,  # kafka-python takes 0.4 s for 600 kB
            max_partition_fetch_bytes=16 * 1024 * 1024,
            **login,
        )
        self._consumer.assign([TopicPartition(job.events_topic, 0)])
        self._stopping = Event()
        self._thread = Thread(target=self._run, name="stand-in-job")
        self.principals: list[str] = []
        """Of the events, in their order; no one is left out."""

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._thread.join()
        self._producer.close()
        self._consumer.close()

    def _run(self) -> None:
        while not self._stopping.is_set():
            for records in self._consumer.poll(timeout_ms=20).values():
                for record in records:
                    self._take(json.decode(record.value))

    def _take(self, event: dict[str, Any]) -> None:
        self.principals.append(event["principal"])
        line = json.encode({"at": int(time.time() * 1000), "event": event}).decode()
        for output in self._replay.line(line):
            if output["kind"] == "response":
                self._producer.send(self._responses_topic, value=json.encode(output), partition=0)
