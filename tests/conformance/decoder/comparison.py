"""Our codecs of __consumer_offsets and Kafka's own, given the same messages."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random
from typing import IO

from group_coordinator.codecs.offsets_topic import encode_entry
from tests.conformance.decoder.drawn_messages import one_of_each
from tests.conformance.kafka.coordinators import kafka_program
from tests.conformance.language.lines import Json
from tests.support.offsets_topic_messages import Message, damaged, entry, message, verdict


class KafkaMessages:
    """Kafka's own writer, reader and JSON converters, in a process of their own."""

    def __init__(self, log: IO[bytes]) -> None:
        self._process = kafka_program("KafkaMessages", log)

    def written(self, drawn: Json) -> tuple[Message, Json]:
        """The bytes that Kafka makes of a message, and its verdict on them."""
        answer = self._answer(drawn)
        return message(answer), _verdict(answer)

    def verdict(self, sent: Message) -> Json:
        """The JSON that Kafka prints of these bytes, or what kind of fault they have."""
        return _verdict(self._answer(sent.in_hex()))

    def _answer(self, line: Json) -> Json:
        (answer,) = self._process.say(json.dumps(line))
        return answer

    def close(self) -> None:
        self._process.close()


def _verdict(answer: Json) -> Json:
    if answer["kind"] == "error":
        return {"fault": answer["fault"]}
    return {"json": answer["json"]}


def differences(seed: int, kafka: KafkaMessages, damages: int) -> Iterator[str]:
    """Compare the bytes and the reading of a message of each type and version, and of each when damaged so many times."""
    random = Random(seed)  # noqa: S311 - the same every time, no secret
    for drawn in one_of_each(random):
        whole, expected = kafka.written(drawn)
        yield from _other_bytes(seed, drawn, whole)
        yield from _difference(seed, whole, expected)
        for _ in range(damages):
            broken = damaged(random, whole)
            yield from _difference(seed, broken, kafka.verdict(broken))


def _other_bytes(seed: int, drawn: Json, expected: Message) -> Iterator[str]:
    found = Message(*encode_entry(entry(drawn)))
    if found != expected:
        yield f"seed {seed}, {drawn}\nKafka: {expected.in_hex()}\nours:  {found.in_hex()}"


def _difference(seed: int, sent: Message, expected: Json) -> Iterator[str]:
    found = verdict(sent)
    if found != expected:
        yield f"seed {seed}, {sent.in_hex()}\nKafka: {expected}\nours:  {found}"
