"""Compiled decoders and encoders, each for one version of a message, or for a part of it."""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from struct import error as StructError
from typing import Any

from group_coordinator.codecs.binary.decoder_source import DECODER_NAMES, DecoderSource
from group_coordinator.codecs.binary.encoder_source import ENCODER_NAMES, EncoderSource
from group_coordinator.codecs.binary.faults import reading_fault, writing_fault
from group_coordinator.codecs.binary.layouts import StructLayout, message_layout
from group_coordinator.codecs.binary.notation import Message
from group_coordinator.codecs.binary.rules import Rules
from group_coordinator.codecs.binary.source import Source
from group_coordinator.codecs.kafka_bytes import Data, FieldFaultError, compact_length

_COUNT = Struct(">i")


class ElementDecoder:
    """`run` is that of a Decoder for one element of an array of structs; `count` reads how many there are."""

    def __init__(self, message: Message, version: int, rules: Rules, array: str) -> None:
        self._source = Source(f"decoder of {message.name}.{array} v{version}", DECODER_NAMES)
        [field] = (f for f in message_layout(message, version).plain if f.name == array)
        if field.struct is None:
            raise TypeError(f"{message.name}.{array} has no structs")
        self._is_compact = field.compact
        function = DecoderSource(self._source, rules).message(field.struct)
        self.run: Callable[[Data, int, int], tuple[dict[str, Any], int]]
        self.run = self._source.run(function)

    def count(self, data: Data, position: int) -> tuple[int, int]:
        """How many elements there are, and where the first one begins; none where the array is null.

        Raises:
            FieldFaultError: the bytes end too early.
        """
        try:
            if self._is_compact:
                found, first_at = compact_length(data, position)
            else:
                found, first_at = _COUNT.unpack_from(data, position)[0], position + _COUNT.size
        except (StructError, IndexError) as failure:
            left = len(data) - position
            raise FieldFaultError(f"ends too early, {left} bytes left") from failure
        return max(0, found), first_at

    def fault(self, failure: Exception) -> FieldFaultError:
        """What a failure of `run` means."""
        return reading_fault(self._source, failure)


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
