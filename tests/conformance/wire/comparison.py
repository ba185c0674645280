"""Our codec of requests and responses and Kafka's own, given the same bodies and the same bytes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random
from typing import IO, Any

from group_coordinator.binary.layouts import FieldLayout, StructLayout
from group_coordinator.codecs import wire
from group_coordinator.codecs.wire.messages import decode_at
from tests.conformance.kafka.coordinators import kafka_program
from tests.conformance.language.lines import Json
from tests.support.damaged_bytes import damaged_bytes
from tests.support.wire_messages import MESSAGES, Message, drawn_body, layout_of

_CHECKS_OF_ITS_OWN = {"CreateAcls", "DeleteAcls", "DescribeAcls"}
"""Kafka refuses some values of these right after it has read them."""


class KafkaWire:
    """Kafka's own writers and readers, in a process of their own."""

    def __init__(self, log: IO[bytes]) -> None:
        self._process = kafka_program("KafkaWire", log)

    def written(self, message: Message, body: Json) -> bytes:
        """The bytes that Kafka makes of a body."""
        return bytes.fromhex(self._answer(message, body=body)["hex"])

    def read(self, message: Message, data: bytes) -> Json:
        """What Kafka reads in bytes."""
        return self._answer(message, hex=data.hex())

    def request(self, frame: bytes) -> Json:
        """What a broker reads in a request with its header."""
        return self._say({"frame": frame.hex()})

    def _answer(self, message: Message, **asked: Any) -> Json:
        return self._say({"message": message.name, "version": message.version, **asked})

    def _say(self, line: Json) -> Json:
        (answer,) = self._process.say(json.dumps(line))
        return answer

    def close(self) -> None:
        self._process.close()


def differences(seed: int, kafka: KafkaWire, damages: int) -> Iterator[str]:
    """Compare the bytes and the reading of a body of each message and version, and the reading when damaged so many times."""
    random = Random(seed)  # noqa: S311 - the same every time, no secret
    for message in MESSAGES:
        body = drawn_body(random, message)
        whole = wire.encode(*message, body)
        expected = kafka.written(message, body)
        if whole != expected:
            yield f"seed {seed}, {message}, {body}\nKafka: {expected.hex()}\nours:  {whole.hex()}"
        for data in (whole, *(damaged_bytes(random, whole) for _ in range(damages))):
            yield from _other_reading(seed, message, data, kafka.read(message, data))


def _other_reading(seed: int, message: Message, data: bytes, expected: Json) -> Iterator[str]:
    found = _reading(message, data, expected)
    if found != expected["kind"]:
        yield f"seed {seed}, {message}, {data.hex()}\nKafka: {expected}\nours:  {found}"


def _reading(message: Message, data: bytes, expected: Json) -> str:
    """The kind of Kafka's answer if ours is the same, else what ours is."""
    try:
        body, size = decode_at(*message, data, 0)
    except wire.WireError as error:
        return "error" if expected["kind"] == "error" else str(error)
    if size == expected.get("size") and _same(layout_of(message), body, expected["body"]):
        return "read"
    return f"{body} in {size} bytes"


def _same(layout: StructLayout, ours: Json, kafkas: Json) -> bool:
    names = [field.name for field in layout.fields]
    return list(ours) == names and all(
        _same_field(field, ours[field.name], kafkas) for field in layout.fields
    )


def _same_field(field: FieldLayout, ours: Any, kafkas: Json) -> bool:
    if field.name not in kafkas:  # Kafka prints no tagged field that has its default
        return field.tag is not None and ours == field.whole_default()
    theirs = kafkas[field.name]
    if ours is None or theirs is None:
        return ours is theirs
    if field.type == "records":  # nor what is in records
        return True
    if field.struct is None:
        return bool(ours == theirs)
    pairs = zip(ours, theirs, strict=True) if field.is_array else [(ours, theirs)]
    return all(_same(field.struct, *pair) for pair in pairs)


def other_requests(seed: int, kafka: KafkaWire, damages: int) -> Iterator[str]:
    """Compare what a broker reads in a whole request, with its header, and in so many damaged ones."""
    random = Random(seed)  # noqa: S311 - the same every time, no secret
    for message in MESSAGES:
        api = message.name.removesuffix("Request")
        if api == message.name or api in _CHECKS_OF_ITS_OWN:
            continue
        client_id = random.choice((None, "", "billing", "grüße"))
        sized = wire.request(
            api, message.version, random.choice((0, 7, -1)), client_id, drawn_body(random, message)
        )
        whole = sized[4:]
        for frame in (whole, *(damaged_bytes(random, whole) for _ in range(damages))):
            ours, theirs = _header(frame), kafka.request(frame)
            if ours != _kafkas_header(theirs):
                yield f"seed {seed}, {message}, {frame.hex()}\nKafka: {theirs}\nours:  {ours}"


def _header(frame: bytes) -> wire.RequestHeader | None:
    """The header of a request that ours reads to its end."""
    try:
        header = wire.request_header(frame)
        wire.request_body(frame)
    except wire.WireError:
        return None
    return header._replace(client_id=header.client_id or "")


def _kafkas_header(answer: Json) -> wire.RequestHeader | None:
    if answer["kind"] == "error":
        return None
    header = answer["header"]
    return wire.RequestHeader(
        header["requestApiKey"],
        header["requestApiVersion"],
        header["correlationId"],
        header["clientId"],
        answer["headerSize"],
    )
