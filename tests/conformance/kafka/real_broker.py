"""A Kafka broker with settings of its own, its topics, and what it wrote to __consumer_offsets."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from kafka.record import MemoryRecords

from group_coordinator.local.broker import LOOPBACK, EmbeddedBroker
from tests.conformance.kafka.raw_requests import RawRequest, ask
from tests.conformance.kafka.witness import Witness
from tests.conformance.language.lines import Json
from tests.support.until import until

OFFSETS_TOPIC: Final = "__consumer_offsets"
_POLL_S: Final = 0.02
_TIMEOUT_S: Final = 20.0
_ONE_PARTITION: Final = {
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
}
"""Where one is loaded all is, and one log has the order of all groups."""


class Message(NamedTuple):
    """A message of the topic, and what the header of its batch says of it."""

    key: bytes
    value: bytes | None
    producer_id: int
    is_control: bool


@dataclass
class RealBroker:
    """Speaks to the broker in raw requests; every one has a connection of its own."""

    address: tuple[str, int]
    settings: Mapping[str, str]
    topics: dict[str, Json] = field(default_factory=dict)
    """The topics that it was told to have, as it was told, by name."""
    real_ids: dict[str, str] = field(default_factory=dict)
    """The ids that they really have, or had last, by those that it was told."""
    told_ids: dict[str, str] = field(default_factory=dict)
    """The ids that it was told, by those that they really have, or had."""
    witness: Witness = field(init=False)
    """It knows when the group coordinator has heard of a change."""

    def __post_init__(self) -> None:
        self.witness = Witness(self.ask)

    def ask(self, api: str, version: int, body: Json) -> Json:
        return ask(self.address, api, version, body)

    def request(self, api: str, version: int, client_id: str) -> RawRequest:
        return RawRequest(self.address, api, version, client_id)

    # ---- topics -----------------------------------------------------------------------------

    def have_topics(self, wanted: list[Json]) -> None:
        """Delete, create and extend topics until there are these and no others, and the group coordinator knows it."""
        topics = {topic["name"]: topic for topic in wanted}
        told, self.topics = self.topics, {}
        for name, topic in told.items():
            if _goes_on(topic, topics.get(name)):
                self.topics[name] = topic
        self._delete(told.keys() - self.topics.keys())
        self._create([topic for name, topic in topics.items() if name not in self.topics])
        self._extend([topics[name] for name, topic in self.topics.items() if topic != topics[name]])
        self.topics = topics
        self._await(self._shows_topics)
        seen = self._seen()
        if topics != told:
            self.witness.await_topics(told.keys() | topics.keys(), dict(seen.values()))
        self.real_ids |= {told["topicId"]: seen[told["name"]][0] for told in wanted}
        self.told_ids |= {real: told for told, real in self.real_ids.items()}

    def really(self, told: Json) -> Json:
        """Put the real ids of topics in the place of those that it was told."""
        return _replaced(told, self.real_ids)

    def as_told(self, real: Json) -> Json:
        """Put the ids of topics that it was told in the place of the real ones."""
        return _replaced(real, self.told_ids)

    def known_topics(self) -> list[Json]:
        """All topics that there are, its own too, as lines of replay-events tell them; the broker is in no rack."""
        return [
            {
                "name": topic["name"],
                "topicId": topic["topicId"],
                "numPartitions": len(topic["partitions"]),
                "racks": [],
            }
            for topic in self.ask("Metadata", 12, {"topics": None})["topics"]
        ]

    def _delete(self, names: set[str]) -> None:
        if names:
            body: Json = {"topics": [{"name": name} for name in sorted(names)], "timeoutMs": 10_000}
            answer = self.ask("DeleteTopics", 6, body)
            assert not any(topic["errorCode"] for topic in answer["responses"]), answer
            self._await(self._shows_topics)
            self.witness.await_topics(names | self.topics.keys(), dict(self._seen().values()))

    def _create(self, topics: list[Json]) -> None:
        if topics:
            specs = [
                {
                    "name": topic["name"],
                    "numPartitions": topic["numPartitions"],
                    "replicationFactor": 1,
                }
                for topic in topics
            ]
            answer = self.ask("CreateTopics", 7, {"topics": specs, "timeoutMs": 10_000})
            assert not any(topic["errorCode"] for topic in answer["topics"]), answer

    def _extend(self, topics: list[Json]) -> None:
        if topics:
            specs = [
                {"name": topic["name"], "count": topic["numPartitions"], "assignments": None}
                for topic in topics
            ]
            answer = self.ask("CreatePartitions", 3, {"topics": specs, "timeoutMs": 10_000})
            assert not any(topic["errorCode"] for topic in answer["results"]), answer

    def _shows_topics(self) -> bool:
        seen = {name: partitions for name, (_, partitions) in self._seen().items()}
        return seen == {name: topic["numPartitions"] for name, topic in self.topics.items()}

    def _seen(self) -> dict[str, tuple[str, int]]:
        answer = self.ask("Metadata", 12, {"topics": None})
        return {
            topic["name"]: (topic["topicId"], len(topic["partitions"]))
            for topic in answer["topics"]
            if not topic["isInternal"]
        }

    # ---- the log ----------------------------------------------------------------------------

    def await_coordinators(self) -> None:
        """Make the broker create its internal topics and wait until it has loaded them."""
        for key_type in (0, 1):
            body = {"keyType": key_type, "coordinatorKeys": ["nobody"]}
            self._await(partial(self._finds_coordinator, body))
        self._await(self._has_loaded_groups)
        self._await(self._has_loaded_transactions)

    def _finds_coordinator(self, body: Json) -> bool:
        [found] = self.ask("FindCoordinator", 4, body)["coordinators"]
        return bool(found["errorCode"] == 0)

    def _has_loaded_groups(self) -> bool:
        body = {"groups": [{"groupId": "nobody", "topics": None}], "requireStable": False}
        [group] = self.ask("OffsetFetch", 8, body)["groups"]
        return bool(group["errorCode"] == 0)

    def _has_loaded_transactions(self) -> bool:
        body = {"transactionalId": "nobody", "transactionTimeoutMs": 60_000}
        return bool(self.ask("InitProducerId", 4, body)["errorCode"] == 0)

    def end_of_log(self) -> int:
        return self._fetch(0, max_bytes=1)[0]

    def messages(self, start: int) -> list[Message]:
        """Read the log from there to its end; with one partition its order is that of all groups."""
        found: list[Message] = []
        end, position = self.end_of_log(), start
        while position < end:
            for batch in _batches(self._fetch(position)[1]):
                found += [
                    Message(record.key, record.value, batch.producer_id, batch.is_control_batch)
                    for record in batch
                    if record.offset >= start
                ]
                position = batch.next_offset
        return found

    def _fetch(self, offset: int, max_bytes: int = 1 << 24) -> tuple[int, str]:
        partition = {"partition": 0, "fetchOffset": offset, "partitionMaxBytes": max_bytes}
        topics = [{"topic": OFFSETS_TOPIC, "partitions": [partition]}]
        limits = {"maxWaitMs": 0, "minBytes": 0, "maxBytes": max_bytes}
        answer = self.ask("Fetch", 4, {"replicaId": -1, **limits, "topics": topics})
        [data] = answer["responses"][0]["partitions"]
        assert data["errorCode"] == 0, data
        return data["highWatermark"], data["records"]

    def _await(self, condition: Callable[[], bool]) -> None:
        until(condition, seconds=_TIMEOUT_S, awaited="the broker", poll_s=_POLL_S)


@contextmanager
def real_broker(folder: Path, settings: Mapping[str, str]) -> Iterator[RealBroker]:
    """Run a broker that listens on loopback; its coordinator has one partition."""
    with EmbeddedBroker(folder, properties={**settings, **_ONE_PARTITION}) as process:
        broker = RealBroker((LOOPBACK, process.port), dict(settings))
        broker.await_coordinators()
        yield broker


def _replaced(node: Json, ids: Mapping[str, str]) -> Json:
    text = json.dumps(node)
    for old, new in ids.items():
        text = text.replace(old, new)
    replaced: Json = json.loads(text)
    return replaced


def _goes_on(told: Json, wanted: Json | None) -> bool:
    """Whether a topic can become what is wanted without being deleted."""
    return (
        wanted is not None
        and wanted["topicId"] == told["topicId"]
        and wanted["numPartitions"] >= told["numPartitions"]
    )


def _batches(encoded: str) -> Iterator[Any]:
    batches = MemoryRecords(b64decode(encoded))
    while (batch := batches.next_batch()) is not None:
        yield batch
