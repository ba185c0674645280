"""Compiled decoders and encoders, each for one version of a message, or for its fields before one of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from group_coordinator.codecs.binary.decoder_source import DECODER_NAMES, DecoderSource
from group_coordinator.codecs.binary.encoder_source import ENCODER_NAMES, EncoderSource
from group_coordinator.codecs.binary.faults import reading_fault, writing_fault
from group_coordinator.codecs.binary.layouts import StructLayout, message_layout
from group_coordinator.codecs.binary.notation import Message
from group_coordinator.codecs.binary.rules import Rules
from group_coordinator.codecs.binary.source import Source
from group_coordinator.codecs.kafka_bytes import Data, FieldFaultError


class Decoder:
    """`run` takes bytes, a position and the end; it returns a dict and the position after it, or raises READING_FAILURES."""

    def __init__(
        self, message: Message, version: int, rules: Rules, before: str | None = None
    ) -> None:
        self._source = Source(f"decoder of {message.name} v{version}", DECODER_NAMES)
        layout = _layout(message, version, before)
        function = DecoderSource(self._source, rules).message(layout)
        self.run: Callable[[Data, int, int], tuple[dict[str, Any], int]]
        self.run = self._source.run(function)

    def fault(self, failure: Exception) -> FieldFaultError:
        """What a failure of `run` means."""
        return reading_fault(self._source, failure)


class Encoder:
    """`run` takes a bytearray and a dict, and appends the dict's bytes, or raises WRITING_FAILURES."""

    def __init__(
        self, message: Message, version: int, rules: Rules, before: str | None = None
    ) -> None:
        self._source = Source(f"encoder of {message.name} v{version}", ENCODER_NAMES)
        layout = _layout(message, version, before)
        function = EncoderSource(self._source, rules).struct(layout)
        self.run: Callable[[bytearray, Any], bytearray] = self._source.run(function)

    def fault(self, failure: Exception) -> FieldFaultError:
        """What a failure of `run` means."""
        return writing_fault(self._source, failure)


def _layout(message: Message, version: int, before: str | None) -> StructLayout:
    whole = message_layout(message, version)
    return whole if before is None else whole.before(before)
