"""Writes the elements of Kafka's messages as bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from struct import Struct, error

from group_coordinator.codecs.fields import LONGEST_TEXT
from group_coordinator.codecs.offsets_topic.errors import OffsetsTopicError
from group_coordinator.codecs.offsets_topic.reader import (
    FLEXIBLE_SINCE,
    INT8,
    INT16,
    INT32,
    INT64,
    NULL,
)
from group_coordinator.core.uuids import uuid_bytes

_CONTINUED = 0x80


class Writer:
    """Writes one key or value from its start; OffsetsTopicError where something does not fit."""

    def __init__(self, part: str) -> None:
        self.version = 0
        self._part = part
        self._pieces: list[bytes] = []
        self._flexible = False

    def start_value(
        self, version: int, highest_version: int, flexible_since: int = FLEXIBLE_SINCE
    ) -> None:
        """Write a value's version; the rest is of this version."""
        if not 0 <= version <= highest_version:
            raise self._fault("version", f"{version} is not in 0-{highest_version}")
        self.int16("version", version)
        self.version = version
        self._flexible = version >= flexible_since

    def inside(self) -> Writer:
        """A writer of a tagged field of this value."""
        inner = Writer(self._part)
        inner.version, inner._flexible = self.version, True
        return inner

    def int8(self, field: str, number: int) -> None:
        """One byte, signed."""
        self._number(field, number, INT8)

    def int16(self, field: str, number: int) -> None:
        """Two bytes, signed."""
        self._number(field, number, INT16)

    def int32(self, field: str, number: int) -> None:
        """Four bytes, signed."""
        self._number(field, number, INT32)

    def int64(self, field: str, number: int) -> None:
        """Eight bytes, signed."""
        self._number(field, number, INT64)

    def text(self, field: str, text: str | None) -> None:
        """A string, null for None."""
        if text is None:
            self._length(field, NULL, INT16)
            return
        try:
            encoded = text.encode()
        except UnicodeEncodeError as fault:
            raise self._fault(field, f"is no UTF-8: {fault.reason}") from fault
        if len(encoded) > LONGEST_TEXT:
            raise self._fault(field, f"{len(encoded)} bytes are too long for a string")
        self._length(field, len(encoded), INT16)
        self._pieces.append(encoded)

    def blob(self, field: str, data: bytes) -> None:
        """Bytes."""
        self.count(field, len(data))
        self._pieces.append(data)

    def uuid(self, uuid: str) -> None:
        """Sixteen bytes, from how Kafka prints them."""
        self._pieces.append(uuid_bytes(uuid))

    def int32s(self, field: str, numbers: Sequence[int]) -> None:
        """An array of numbers of four bytes."""
        self.count(field, len(numbers))
        for number in numbers:
            self.int32(field, number)

    def texts(self, field: str, texts: Sequence[str]) -> None:
        """An array of strings."""
        self.count(field, len(texts))
        for text in texts:
            self.text(field, text)

    def is_null(self, *, is_null: bool) -> None:
        """What stands in front of a struct in a tagged field."""
        self._varint(0 if is_null else 1)

    def count(self, field: str, count: int) -> None:
        """The length of an array."""
        self._length(field, count, INT32)

    def tagged_fields(self, fields: Mapping[int, bytes]) -> None:
        """The end of a struct: fields by tag in ascending order; nothing before the flexible versions."""
        if not self._flexible:
            return
        self._varint(len(fields))
        for tag, data in fields.items():
            self._varint(tag)
            self._varint(len(data))
            self._pieces.append(data)

    def done(self) -> bytes:
        """All that was written."""
        return b"".join(self._pieces)

    def _fault(self, field: str, why: str) -> OffsetsTopicError:
        return OffsetsTopicError(f"{self._part}: {field}: {why}")

    def _number(self, field: str, number: int, layout: Struct) -> None:
        try:
            self._pieces.append(layout.pack(number))
        except error as fault:
            raise self._fault(field, f"{number} does not fit {layout.size} bytes") from fault

    def _length(self, field: str, length: int, layout: Struct) -> None:
        """A length, NULL for null; a varint is one higher, so that its null is 0."""
        if self._flexible:
            self._varint(length + 1)
        else:
            self._number(field, length, layout)

    def _varint(self, number: int) -> None:
        """An unsigned number, seven bits a byte, the lowest first."""
        encoded = bytearray()
        while number >= _CONTINUED:
            encoded.append(number % _CONTINUED | _CONTINUED)
            number //= _CONTINUED
        encoded.append(number)
        self._pieces.append(bytes(encoded))
