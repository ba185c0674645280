"""Parser of Produce requests: acks, and the topics as the bytes arrive. Records are never kept.

Bytes of other requests that are not decoded are searched for the coordinator's own topics.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from struct import Struct, error
from typing import NamedTuple, Protocol, TypeAlias, TypeVar
from weakref import ref

from group_coordinator.binary.notation import Data, FieldFaultError, compact_length, varint
from group_coordinator.gateway.api_versions import ServedApi
from group_coordinator.gateway.frames import SIZE, FrameError

_INT16, _INT32 = Struct(">h"), Struct(">i")
_CLIENT_ID_AT = 12
_FLEXIBLE_FROM = 9
_LONGEST_BEGINNING = 128 * 1024
"""bytes. Kafka's strings have at most 32,767."""
_LONGEST_NAME = 32_767
_TIMEOUT_BYTES = _INDEX_BYTES = 4

_Found = TypeVar("_Found")
_Read: TypeAlias = Callable[[Data, int], tuple[_Found, int]]
_Reading: TypeAlias = Generator[None, memoryview, _Found]


class Beginning(NamedTuple):
    """Fields of a Produce request before its topics, in version 3 or later."""

    wants_answer: bool
    topics_at: int
    """Position of the topic count in the frame, whose size comes first."""


def read_beginning(version: int, head: memoryview) -> Beginning | None:
    """Parse the fields before the topics; None: more bytes are needed. Raises FrameError: a wrong length, or a name that is too long."""
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
        # A frame that is not complete looks like a broken frame, so only its length ends the wait.
        if len(head) > _LONGEST_BEGINNING:
            raise FrameError("a Produce request with a name that is too long") from None
        return None
    except FieldFaultError as fault:
        where = "tagged fields of the header, or transactionalId"
        raise FrameError(f"Produce {version}: {fault.inside(where)}") from None
    return Beginning(bool(acks), at + _INT16.size + _TIMEOUT_BYTES)


def only_topic(version: int, head: memoryview, topics_at: int) -> bytes | None:
    """Name of the only topic of a request; None for other requests, or if more bytes are needed."""
    is_flexible = version >= _FLEXIBLE_FROM
    try:
        count, at = (compact_length if is_flexible else _int32)(head, topics_at)
        length, at = (compact_length if is_flexible else _int16)(head, at)
    except (IndexError, error, FieldFaultError):
        return None  # ProducedTopics says what is wrong
    is_here = count == 1 and 0 <= length <= len(head) - at
    return bytes(head[at : at + length]) if is_here else None


class ProducedTopics:
    """Parser of the topic names in a request, which skips the records between them.

    It reads unusual and wrong lengths as brokers do, so that both see the same names.
    """

    def __init__(self, version: int, topics_at: int, closed: Collection[bytes]) -> None:
        """Take the `closed` topics, to which clients may not produce."""
        self._is_flexible = version >= _FLEXIBLE_FROM
        self._length: _Read[int] = compact_length if self._is_flexible else _int32
        self._closed = closed
        self._data: Data = b""
        self._at = topics_at
        # A generator keeps its place in the request between two pieces.
        self._reading = self._read()
        next(self._reading)

    def follow(self, piece: memoryview) -> None:
        """Parse the next bytes of the frame, its size first. Raises FrameError: a topic is closed, or a length is invalid."""
        try:
            self._reading.send(piece)
        except StopIteration:
            pass  # the fields behind the topics are not needed
        except FieldFaultError as fault:
            raise FrameError(f"Produce: {fault.inside('topicData')}") from None

    def _read(self) -> _Reading[None]:
        for _ in range((yield from self._next(self._length))):
            name = yield from self._next(self._name)
            if name in self._closed:
                # Earlier pieces are at the broker, which never gets the end of this request and drops it.
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
        """Skip partitions that are complete and without tags; return their number. This needs a tenth of the time."""
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
        """Parse a value as soon as all its bytes are here. The position behind it may be in later bytes."""
        while True:
            here = len(self._data) - self._at
            if here > 0:
                try:
                    found, self._at = read(self._data, self._at)
                except (IndexError, error):
                    pass
                else:
                    return found
            # The skipped records may be longer than the bytes that are here.
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
    # -1 stands for null, which has no bytes.
    return at + _INT16.size + max(int(length), 0)


def _after_tags(data: memoryview, at: int) -> int:
    count, at = varint(data, at)
    for _ in range(count):
        _, at = _tag(data, at)
    return at


_REQUEST_MAX_BYTES = 4 * 1024
"""Limit of a searched request. A longer request is collected and decoded."""
_SEARCHED_BYTES = 8 * 1024
"""Bytes that are searched together, as small requests arrive together."""


class ClosedTopics(Protocol):
    """Topics that only the users of the coordinator may use."""

    encoded: frozenset[bytes]
    apis: Mapping[int, ServedApi]

    def traces(self, principal: str) -> Sequence[bytes]: ...


class Principal(Protocol):
    principal: str


class TopicSearch:
    def __init__(self, own_topics: ClosedTopics, client: Principal) -> None:
        self._own_topics = own_topics
        self._client = client
        self._searched: Callable[[], memoryview | None] = _nothing
        self._is_clear_until = 0
        """The searched bytes contain no trace before this position."""

    def is_clear(self, data: memoryview, at: int, size: int) -> bool:
        """Return True if a short and complete request contains no trace of a topic. False means that it must be decoded."""
        end = at + SIZE.size + size
        # A buffer often has many small requests, so its first bytes were searched together.
        if self._searched() is data and end <= self._is_clear_until:
            return True
        traces = self._own_topics.traces(self._client.principal)
        if not traces:
            return True
        if size > _REQUEST_MAX_BYTES or end > len(data):
            return False
        searched = bytes(data[at : at + _SEARCHED_BYTES])
        # A search for each trace takes a fifth of the time of one pattern.
        for trace in traces:
            if trace in searched:
                request = searched[: end - at]
                return not any(each in request for each in traces)
        # The view is of a buffer that all connections share, so a strong reference would keep it.
        self._searched, self._is_clear_until = ref(data), at + len(searched)
        return True


def _nothing() -> None: ...
