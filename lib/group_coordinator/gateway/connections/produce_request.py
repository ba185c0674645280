"""The beginning of a Produce request: with acks = 0 no answer follows."""

from __future__ import annotations

from struct import Struct, error

from group_coordinator.codecs.kafka_bytes import FieldFaultError, compact_length, varint
from group_coordinator.gateway.connections.frames import FrameError

_INT16 = Struct(">h")
_CLIENT_ID_AT = 12
_FLEXIBLE_FROM = 9
_LONGEST_BEGINNING = 128 * 1024
"""bytes. Names have at most 32,767."""


def wants_answer(version: int, head: memoryview) -> bool | None:
    """Whether acks are not 0, in version 3 or later; None: the bytes that are here do not say yet.

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
    return bool(acks)


def _after_text(data: memoryview, at: int) -> int:
    (length,) = _INT16.unpack_from(data, at)
    return at + 2 + max(int(length), 0)


def _after_tags(data: memoryview, at: int) -> int:
    count, at = varint(data, at)
    for _ in range(count):
        _, at = varint(data, at)
        size, at = varint(data, at)
        at += size
    return at
