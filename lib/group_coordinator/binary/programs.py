"""Compiled decoders and encoders; the field and the reason of a failure come from its traceback, at no cost before it."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from group_coordinator.binary.decoder_source import DECODER_NAMES, DecoderSource
from group_coordinator.binary.encoder_source import ENCODER_NAMES, EncoderSource
from group_coordinator.binary.layouts import (
    FieldLayout,
    Place,
    Rules,
    Source,
    StructLayout,
    message_layout,
)
from group_coordinator.binary.notation import Data, FieldFaultError, Message, too_long

READING_FAILURES = (FieldFaultError, struct.error, IndexError)
"""The exceptions of decoders. The last two mean that the bytes end too early."""
WRITING_FAILURES = (
    *(FieldFaultError, struct.error, KeyError),
    *(TypeError, AttributeError, ValueError, OverflowError),
)
"""The exceptions of encoders. Python's own are raised for a value of a wrong type and for a missing value."""

_Variables = Mapping[str, Any]


class _Value(NamedTuple):
    """A value that the failed line writes. `field` is None for a whole struct."""

    name: str
    field: FieldLayout | None
    value: Any

    def is_written(self) -> bool:
        # Only a number can be tested here: a text or an array is written by several lines.
        if self.field is None or self.field.letter is None:
            return False
        try:
            struct.pack(f">{self.field.letter}", self.value)
        except (struct.error, OverflowError):
            return False
        return True

    def fault(self, failure: Exception) -> FieldFaultError:
        if self.value is None:
            return FieldFaultError("is null")
        if isinstance(failure, UnicodeEncodeError):
            return FieldFaultError(f"is not UTF-8: {failure.reason}")
        if isinstance(failure, struct.error) and self.field is not None:
            if self.field.type == "string":
                return too_long(len(self.value.encode()))
            if isinstance(self.value, int):
                return FieldFaultError(f"{self.value} does not fit {self.field.size} bytes")
        return FieldFaultError(str(failure))


def reading_fault(source: Source, failure: Exception) -> FieldFaultError:
    """Describe why bytes cannot be decoded."""
    *outer, (place, variables) = source.way_to(failure)
    path = [_name_read(*step) for step in outer]
    name = _name_read(place, variables)
    if isinstance(failure, FieldFaultError):
        return failure.inside(_joined(*path, name))
    left = variables["z"] - variables["p"]
    # Consecutive numbers are one read: the first number without enough bytes is the faulty field.
    for field in place.fields[:-1]:
        if left < field.size:
            name = field.name
            break
        left -= field.size
    return FieldFaultError(f"ends too early, {left} bytes left", _joined(*path, name))


def writing_fault(source: Source, failure: Exception) -> FieldFaultError:
    """Describe why a body cannot be encoded."""
    *outer, (place, variables) = source.way_to(failure)
    path = [_name_written(*step) for step in outer]
    if isinstance(failure, FieldFaultError):
        return failure.inside(_joined(*path, _name_written(place, variables)))
    if isinstance(failure, KeyError):
        return FieldFaultError("is missing", _joined(*path, failure.args[0]))
    values = [*_values(place, variables)]
    # If all numbers fit, the last value has another fault.
    found = next((value for value in values if not value.is_written()), values[-1])
    return found.fault(failure).inside(_joined(*path, found.name))


def _joined(*names: str) -> str:
    return ".".join(filter(None, names))


def _name_read(place: Place, variables: _Variables) -> str:
    if place.elements is None:
        return place.name
    return f"{place.name}[{len(variables[place.elements])}]"


def _name_written(place: Place, variables: _Variables) -> str:
    if place.elements is None:
        return place.name
    element = variables["x"]
    # By identity: equal elements may stand before the faulty element.
    found = (index for index, one in enumerate(variables[place.elements]) if one is element)
    return f"{place.name}[{next(found)}]"


def _values(place: Place, variables: _Variables) -> Iterator[_Value]:
    if not place.fields:
        yield _Value("", None, variables["r"])
        return
    field = place.fields[-1]
    if place.elements is not None:
        yield _Value(_name_written(place, variables), field, variables["x"])
    elif field.is_number and field.tag is None:
        body = variables["r"]
        for number in place.fields:
            yield _Value(number.name, number, body.get(number.name, number.default))
    elif field.letter is not None and isinstance(variables["v"], list | tuple):
        for index, number in enumerate(variables["v"]):
            yield _Value(f"{field.name}[{index}]", field, number)
    else:
        yield _Value(field.name, field, variables["v"])


class Part(NamedTuple):
    """The fields of a message before a given field, with the count of an array. Or: an element of an array of structs."""

    name: str
    is_element: bool = False

    def of(self, whole: StructLayout) -> StructLayout:
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
