"""Reads the elements of Kafka's messages from bytes."""

from __future__ import annotations

from struct import Struct, error

from group_coordinator.codecs.fields import LONGEST_TEXT
from group_coordinator.codecs.offsets_topic.errors import OffsetsTopicError
from group_coordinator.core.uuids import uuid_text

BYTE = Struct(">B")
INT8 = Struct(">b")
INT16 = Struct(">h")
INT32 = Struct(">i")
INT64 = Struct(">q")
NULL = -1
"""The length of what is null."""
FLEXIBLE_SINCE = 4
"""Since this version of the values of classic groups, lengths are varints and structs end with tagged fields (KIP-482)."""
UUID_SIZE = 16
_VARINT_BITS = range(0, 35, 7)
_CONTINUED = 0x80


class Reader:
    """Reads one key or value from its start; OffsetsTopicError where there is not what should be.

    Stricter than Kafka, which ignores bytes behind the last field, replaces what is no UTF-8, takes any negative length
    for null and does not look at the size of a tagged field that it knows. Kafka itself writes none of this.
    """

    def __init__(self, part: str, data: bytes) -> None:
        self.version = 0
        self._part = part
        self._data = data
        self._position = 0
        self._flexible = False

    def start_value(self, highest_version: int, flexible_since: int = FLEXIBLE_SINCE) -> None:
        """Read a value's version; the rest is of this version."""
        self.version = self.int16("version")
        if not 0 <= self.version <= highest_version:
            raise self.fault("version", f"{self.version} is not in 0-{highest_version}")
        self._flexible = self.version >= flexible_since

    def inside(self, tagged_field: bytes) -> Reader:
        """A reader of a tagged field of this value."""
        inner = Reader(self._part, tagged_field)
        inner.version, inner._flexible = self.version, True
        return inner

    def int8(self, field: str) -> int:
        """One byte, signed."""
        return self._number(field, INT8)

    def int16(self, field: str) -> int:
        """Two bytes, signed."""
        return self._number(field, INT16)

    def int32(self, field: str) -> int:
        """Four bytes, signed."""
        return self._number(field, INT32)

    def int64(self, field: str) -> int:
        """Eight bytes, signed."""
        return self._number(field, INT64)

    def text(self, field: str) -> str:
        """A string that must not be null."""
        text = self.text_or_none(field)
        if text is None:
            raise self.fault(field, "is null")
        return text

    def text_or_none(self, field: str) -> str | None:
        """A string, None for null."""
        length = self._length(field, INT16)
        if length == NULL:
            return None
        if length > LONGEST_TEXT:
            raise self.fault(field, f"{length} bytes are too long for a string")
        encoded = self._bytes(field, length)
        try:
            return encoded.decode()
        except UnicodeDecodeError as fault:
            raise self.fault(field, f"is no UTF-8: {fault.reason}") from fault

    def blob(self, field: str) -> bytes:
        """Bytes that must not be null."""
        return self._bytes(field, self.count(field))

    def uuid(self, field: str) -> str:
        """Sixteen bytes, as Kafka prints them."""
        return uuid_text(self._bytes(field, UUID_SIZE))

    def int32s(self, field: str) -> list[int]:
        """An array of numbers of four bytes that must not be null."""
        return [self.int32(field) for _ in range(self.count(field))]

    def texts(self, field: str) -> list[str]:
        """An array of strings that must not be null."""
        return [self.text(field) for _ in range(self.count(field))]

    def is_null(self, field: str) -> bool:
        """Whether a struct in a tagged field is null: a varint in front of it says so."""
        return self._varint(field) == 0

    def count_or_none(self, field: str) -> int | None:
        """The length of an array, None for null."""
        length = self._length(field, INT32)
        return None if length == NULL else length

    def count(self, field: str) -> int:
        """The length of an array that must not be null."""
        length = self.count_or_none(field)
        if length is None:
            raise self.fault(field, "is null")
        return length

    def tagged_fields(self) -> dict[int, bytes]:
        """The end of a struct: fields by tag, none before the flexible versions; the last of equal tags counts."""
        if not self._flexible:
            return {}
        return {
            self._varint("tag"): self._bytes("tagged field", self._varint("tagged field"))
            for _ in range(self._varint("tagged fields"))
        }

    def end(self) -> None:
        """Make sure that nothing is left."""
        if self._left:
            raise self.fault("end", f"{self._left} bytes too many")

    def fault(self, field: str, why: str) -> OffsetsTopicError:
        """What to raise when a field is wrong."""
        return OffsetsTopicError(f"{self._part}: {field}: {why}")

    @property
    def _left(self) -> int:
        return len(self._data) - self._position

    def _number(self, field: str, layout: Struct) -> int:
        try:
            number: int = layout.unpack_from(self._data, self._position)[0]
        except error as fault:
            raise self.fault(field, f"{layout.size} bytes wanted, {self._left} left") from fault
        self._position += layout.size
        return number

    def _bytes(self, field: str, length: int) -> bytes:
        if length > self._left:
            raise self.fault(field, f"{length} bytes wanted, {self._left} left")
        start = self._position
        self._position += length
        return self._data[start : self._position]

    def _length(self, field: str, layout: Struct) -> int:
        """A length, NULL for null; a varint is one higher, so that its null is 0."""
        length = self._varint(field) - 1 if self._flexible else self._number(field, layout)
        if length < NULL:
            raise self.fault(field, f"has the length {length}")
        return length

    def _varint(self, field: str) -> int:
        """An unsigned number, seven bits a byte, the lowest first."""
        number = 0
        for shift in _VARINT_BITS:
            byte = self._number(field, BYTE)
            number |= (byte & ~_CONTINUED) << shift
            if byte < _CONTINUED:
                return number
        raise self.fault(field, "a varint of more than five bytes")
