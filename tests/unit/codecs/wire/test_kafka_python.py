"""The protocol classes of kafka-python, made by others from the same definitions, read and write the same frames."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from importlib import import_module
from random import Random
from typing import Any

import kafka.protocol
import pytest
from kafka.protocol.api_message import ApiMessage

from group_coordinator.codecs import wire
from tests.support.wire_messages import MESSAGES, Message, drawn_body

CORRELATION_ID = 7
CLIENT_ID = "billing"


def kafka_pythons_classes() -> Iterator[type[Any]]:
    for module in pkgutil.iter_modules(kafka.protocol.__path__, "kafka.protocol."):
        if module.ispkg and not module.name.endswith((".old", ".schemas")):
            import_module(module.name)
    # Beside each class there are ones for its versions.
    return (found for found in ApiMessage.__subclasses__() if found[None] is found)


CLASSES = {found.__name__: found for found in kafka_pythons_classes()}
KNOWN_TO_BOTH = [
    message
    for message in MESSAGES
    if message.name in CLASSES and message.version <= CLASSES[message.name].max_version
]


@pytest.mark.parametrize("message", KNOWN_TO_BOTH, ids=str)
def test_kafka_python_reads_and_writes_the_same_frame(message: Message) -> None:
    for seed in range(2):
        body = drawn_body(Random(seed), message)  # noqa: S311 - the same every time, no secret
        if message.name == "ApiVersionsResponse":
            body["errorCode"] = 0  # kafka-python reads any error in version 0
        ours = framed(message, body)

        theirs = CLASSES[message.name].decode(
            ours, version=message.version, header=True, framed=True
        )
        theirs.with_header(CORRELATION_ID, CLIENT_ID)

        assert theirs.encode(header=True, framed=True) == ours


def framed(message: Message, body: dict[str, Any]) -> bytes:
    if message.name.endswith("Request"):
        api = message.name.removesuffix("Request")
        return wire.request(api, message.version, CORRELATION_ID, CLIENT_ID, body)
    api = message.name.removesuffix("Response")
    return wire.response(api, message.version, CORRELATION_ID, body)


def test_hardly_any_message_is_left_out() -> None:
    assert len(KNOWN_TO_BOTH) > 400
