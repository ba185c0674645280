"""Produce requests: whether an answer follows, and the topics, read as the bytes come. Records are never kept."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator
from struct import Struct, error
from typing import NamedTuple, TypeAlias, TypeVar

from group_coordinator.binary.elements import Data, FieldFaultError, compact_length, varint
from group_coordinator.gateway.connections.frames import FrameError

_INT16, _INT32 = Struct(">h"), Struct(">i")
_CLIENT_ID_AT = 12
_FLEXIBLE_FROM = 9
_LONGEST_BEGINNING = 128 * 1024
"""bytes. Names have at most 32,767."""
_LONGEST_NAME = 32_767
_TIMEOUT_BYTES = _INDEX_BYTES = 4

_Found = TypeVar("_Found")
_Read: TypeAlias = Callable[[Data, int], tuple[_Found, int]]
_Reading: TypeAlias = Generator[None, memoryview, _Found]


class Beginning(NamedTuple):
    """What a Produce request, in version 3 or later, says before its topics."""

    wants_answer: bool
    """Whether acks are not 0."""
    topics_at: int
    """Where the number of topics is in the frame, whose size comes first."""


def read_beginning(version: int, head: memoryview) -> Beginning | None:
    """None: the bytes that are here do not say yet.

    Raises:
        FrameError: they should, or have a length that is none.
    """
    try:
        at = _after_text(head, _CLIENT_ID_AT)
        if version >= _FLEXIBLE_FROM:
            at = _after_tags(head, at)
            length, at = compact_length(head, at)
            at += max(length, 0)
        else:
            at = _after_text(head, at)
        (acks,) = _INT16.unpack_from(head, at)
    except (IndexError, error):
        if len(head) > _LONGEST_BEGINNING:
            raise FrameError("a Produce request with a name that is too long") from None
        return None
    except FieldFaultError as fault:
        where = "tagged fields of the header, or transactionalId"
        raise FrameError(f"Produce {version}: {fault.inside(where)}") from None
    return Beginning(bool(acks), at + _INT16.size + _TIMEOUT_BYTES)


def only_topic(version: int, head: memoryview, topics_at: int) -> bytes | None:
    """The name of the topic, where a request has just one; None: it has more, or none, or the bytes that are here do not say yet."""
    is_flexible = version >= _FLEXIBLE_FROM
    try:
        count, at = (compact_length if is_flexible else _int32)(head, topics_at)
        length, at = (compact_length if is_flexible else _int16)(head, at)
    except (IndexError, error, FieldFaultError):
        return None  # ProducedTopics says what is wrong
    is_here = count == 1 and 0 <= length <= len(head) - at
    return bytes(head[at : at + length]) if is_here else None


class ProducedTopics:
    """Reads the names of topics in one request, and jumps over the records between them.

    What it takes for a name is what brokers take for one: it has their reading of lengths that are unusual or wrong.
    """

    def __init__(self, version: int, topics_at: int, closed: Collection[bytes]) -> None:
        """Nobody may produce to the topics that are `closed`."""
        self._is_flexible = version >= _FLEXIBLE_FROM
        self._length: _Read[int] = compact_length if self._is_flexible else _int32
        self._closed = closed
        self._data: Data = b""
        self._at = topics_at
        self._reading = self._read()
        next(self._reading)

    def follow(self, piece: memoryview) -> None:
        """Read what comes next in the frame, which begins with its size.

        Raises:
            FrameError: a topic is closed, or a length is none.
        """
        try:
            self._reading.send(piece)
        except StopIteration:
            pass  # behind the topics nothing is of interest
        except FieldFaultError as fault:
            raise FrameError(f"Produce: {fault.inside('topicData')}") from None

    def _read(self) -> _Reading[None]:
        for _ in range((yield from self._next(self._length))):
            name = yield from self._next(self._name)
            if name in self._closed:
                raise FrameError(f"Produce to {name.decode()}, a topic of the coordinator itself")
            left = yield from self._next(self._length)
            while left > 0:
                left -= self._whole_partitions(left)
                if left:
                    yield from self._next(self._records)
                    yield from self._tags()
                    left -= 1
            yield from self._tags()

    def _whole_partitions(self, most: int) -> int:
        """Jump over partitions that are here as a whole and have no tags, in a tenth of the time; returns how many."""
        data, at, jumped = self._data, self._at, 0
        length, tags_bytes = self._length, int(self._is_flexible)
        try:
            while jumped < most:
                records, behind = length(data, at + _INDEX_BYTES)
                behind += max(records, 0) + tags_bytes
                if behind > len(data) or (tags_bytes and data[behind - 1]):
                    break
                at, jumped = behind, jumped + 1
        except (IndexError, error):
            pass
        self._at = at
        return jumped

    def _next(self, read: _Read[_Found]) -> _Reading[_Found]:
        """What comes next, as soon as all its bytes are here. The place behind it may be in bytes that are still to come."""
        while True:
            here = len(self._data) - self._at
            if here > 0:
                try:
                    found, self._at = read(self._data, self._at)
                except (IndexError, error):
                    pass
                else:
                    return found
            rest = bytes(self._data[self._at :])
            self._at = max(-here, 0)
            piece = yield
            self._data = rest + piece if rest else piece

    def _name(self, data: Data, at: int) -> tuple[bytes, int]:
        length, at = self._length(data, at) if self._is_flexible else _int16(data, at)
        if not 0 <= length <= _LONGEST_NAME:
            raise FieldFaultError(f"a name of {length} bytes")
        if at + length > len(data):
            raise IndexError
        return bytes(data[at : at + length]), at + length

    def _records(self, data: Data, at: int) -> tuple[None, int]:
        length, at = self._length(data, at + _INDEX_BYTES)
        return None, at + max(length, 0)

    def _tags(self) -> _Reading[None]:
        if self._is_flexible:
            for _ in range((yield from self._next(varint))):
                yield from self._next(_tag)


def _int16(data: Data, at: int) -> tuple[int, int]:
    return _INT16.unpack_from(data, at)[0], at + _INT16.size


def _int32(data: Data, at: int) -> tuple[int, int]:
    return _INT32.unpack_from(data, at)[0], at + _INT32.size


def _tag(data: Data, at: int) -> tuple[None, int]:
    _, at = varint(data, at)
    size, at = varint(data, at)
    return None, at + size


def _after_text(data: memoryview, at: int) -> int:
    (length,) = _INT16.unpack_from(data, at)
    return at + _INT16.size + max(int(length), 0)


def _after_tags(data: memoryview, at: int) -> int:
    count, at = varint(data, at)
    for _ in range(count):
        _, at = _tag(data, at)
    return at
