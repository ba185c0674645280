"""Where an array of structs is in a response, and where its elements end: what is not wanted is jumped over, not decoded."""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct, error

from group_coordinator.codecs.binary.layouts import NUMBERS
from group_coordinator.codecs.binary.notation import Field
from group_coordinator.codecs.kafka_bytes import (
    Data,
    FieldFaultError,
    compact_length,
    varint,
    varint_bytes,
)
from group_coordinator.codecs.wire.messages import WireError
from group_coordinator.codecs.wire.schemas import MESSAGES

_SIZES = {kind: Struct(f">{letter}").size for kind, letter in NUMBERS.items()} | {"uuid": 16}
_INT16, _INT32 = Struct(">h"), Struct(">i")


_HEADER_BYTES = 8
"""Size and correlation id."""


class ArrayPlace:
    """Of one array in one version of a response; positions are in its frame, which begins with its size."""

    def __init__(self, api: str, version: int, array: str) -> None:
        definition = MESSAGES[f"{api}Response"]
        names = [field.name for field in definition.fields]
        at = names.index(array)
        self._name = f"{definition.name} v{version}: {array}"
        self._before, self._array = definition.fields[:at], definition.fields[at]
        self._version = version
        self._is_flexible = definition.is_flexible(version)

    def begin(self, data: Data) -> tuple[int, int, int]:
        """Where the array is, how many elements it has, and where the first one is.

        Raises:
            WireError: the data end too early.
        """
        try:
            body_at = self._after_struct((), data, _HEADER_BYTES)
            at = self._after_all(self._before, data, body_at)
            count, first_at = self._length(self._array, data, at)
        except (IndexError, error, FieldFaultError) as fault:
            raise WireError(f"{self._name}: {fault}") from fault
        return at, count, first_at

    def after(self, data: Data, at: int) -> int:
        """Where the element that is there ends.

        Raises:
            WireError: the data end too early.
        """
        try:
            end = self._after_struct(self._array.fields, data, at)
        except (IndexError, error, FieldFaultError) as fault:
            raise WireError(f"{self._name}: {fault}") from fault
        if end > len(data):
            raise WireError(f"{self._name}: an element ends behind the message")
        return end

    def count(self, number: int) -> bytes:
        """What an array of so many elements begins with."""
        return varint_bytes(number + 1) if self._is_flexible else _INT32.pack(number)

    def text(self, text: str) -> bytes:
        """A field with this text."""
        encoded = text.encode()
        length = len(encoded)
        return (varint_bytes(length + 1) if self._is_flexible else _INT16.pack(length)) + encoded

    def _after_all(self, fields: Iterable[Field], data: Data, at: int) -> int:
        for field in fields:
            if field.tag is None and field.is_in(self._version):
                at = self._after_field(field, data, at)
        return at

    def _after_struct(self, fields: Iterable[Field], data: Data, at: int) -> int:
        at = self._after_all(fields, data, at)
        if self._is_flexible:
            tags, at = varint(data, at)
            for _ in range(tags):
                _, at = varint(data, at)
                size, at = varint(data, at)
                at += size
        return at

    def _after_field(self, field: Field, data: Data, at: int) -> int:
        if not field.is_array:
            return self._after_one(field, data, at)
        count, at = self._length(field, data, at)
        if field.type in _SIZES:
            return at + max(count, 0) * _SIZES[field.type]
        for _ in range(count):
            at = self._after_one(field, data, at)
        return at

    def _after_one(self, field: Field, data: Data, at: int) -> int:
        if field.type == "struct":
            return self._after_struct(field.fields, data, at)
        if field.type in _SIZES:
            return at + _SIZES[field.type]
        length, at = self._length(field, data, at, is_text=field.type == "string")
        return at + max(length, 0)

    def _length(
        self, field: Field, data: Data, at: int, *, is_text: bool = False
    ) -> tuple[int, int]:
        if self._is_flexible and field.compact:
            return compact_length(data, at)
        kind = _INT16 if is_text else _INT32
        return kind.unpack_from(data, at)[0], at + kind.size
