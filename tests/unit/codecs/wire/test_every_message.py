from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from group_coordinator.codecs import wire
from tests.support.wire_messages import MESSAGES, Message, drawn_body

NAMES = sorted({message.name for message in MESSAGES})


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=10)
@given(seed=st.integers(0, 2**32 - 1))
def test_what_was_written_is_read(name: str, seed: int) -> None:
    random = Random(seed)  # noqa: S311 - the same every time, no secret
    for message in versions_of(name):
        body = drawn_body(random, message)

        data = wire.encode(*message, body)

        assert wire.decode(*message, data) == body
        assert wire.decode(*message, memoryview(b"__" + data), 2) == body


@pytest.mark.parametrize("name", NAMES)
def test_an_empty_body_has_all_defaults(name: str) -> None:
    for message in versions_of(name):
        defaults = wire.encode(*message, {})

        assert wire.encode(*message, wire.decode(*message, defaults)) == defaults


def versions_of(name: str) -> list[Message]:
    return [message for message in MESSAGES if message.name == name]
