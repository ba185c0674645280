"""Compiled decoders and encoders, each for a version of a message or for a part of a message."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from group_coordinator.binary.decoder_source import DECODER_NAMES, DecoderSource
from group_coordinator.binary.elements import Data, FieldFaultError
from group_coordinator.binary.encoder_source import ENCODER_NAMES, EncoderSource
from group_coordinator.binary.faults import reading_fault, writing_fault
from group_coordinator.binary.layouts import StructLayout, message_layout
from group_coordinator.binary.notation import Message
from group_coordinator.binary.rules import Rules
from group_coordinator.binary.source import Source


class Part(NamedTuple):
    """The fields of a message before a given field, with the count of an array. Or: an element of an array of structs."""

    name: str
    is_element: bool = False

    def of(self, whole: StructLayout) -> StructLayout:
        """Return the layout of the part."""
        return whole.element_of(self.name) if self.is_element else whole.before(self.name)


class Decoder:
    """`run` takes bytes, a position and the end; it returns a dict and the position after it, or raises READING_FAILURES."""

    def __init__(
        self, message: Message, version: int, rules: Rules, part: Part | None = None
    ) -> None:
        self.name = message.name
        self._source = Source(f"decoder of {message.name} v{version}", DECODER_NAMES)
        function = DecoderSource(self._source, rules).message(_layout(message, version, part))
        self.run: Callable[[Data, int, int], tuple[dict[str, Any], int]]
        self.run = self._source.run(function)

    def fault(self, failure: Exception) -> FieldFaultError:
        """Return the field and the reason of a failure of `run`."""
        return reading_fault(self._source, failure)


class Encoder:
    """`run` takes a bytearray and a dict, and appends the dict's bytes, or raises WRITING_FAILURES."""

    def __init__(
        self, message: Message, version: int, rules: Rules, part: Part | None = None
    ) -> None:
        self.name = message.name
        self._source = Source(f"encoder of {message.name} v{version}", ENCODER_NAMES)
        function = EncoderSource(self._source, rules).struct(_layout(message, version, part))
        self.run: Callable[[bytearray, Any], bytearray] = self._source.run(function)

    def fault(self, failure: Exception) -> FieldFaultError:
        """Return the field and the reason of a failure of `run`."""
        return writing_fault(self._source, failure)


def _layout(message: Message, version: int, part: Part | None) -> StructLayout:
    whole = message_layout(message, version)
    return whole if part is None else part.of(whole)
