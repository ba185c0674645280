"""Requests and responses of every message and version, drawn at random."""

from __future__ import annotations

from random import Random
from typing import Any, NamedTuple

from group_coordinator.binary.layouts import StructLayout, message_layout
from group_coordinator.codecs.wire.schemas import MESSAGES as DEFINITIONS
from tests.support import drawn_bodies


class Message(NamedTuple):
    """A message in one of its versions."""

    name: str
    version: int


MESSAGES = [
    Message(name, version)
    for name, definition in sorted(DEFINITIONS.items())
    for version in definition.versions
]


def drawn_body(random: Random, message: Message) -> dict[str, Any]:
    """A body with every field of the version."""
    return drawn_bodies.drawn_body(random, layout_of(message))


def layout_of(message: Message) -> StructLayout:
    return message_layout(DEFINITIONS[message.name], message.version)
