"""Topics that a broker's answer must not show are cut out of it: of all others, which may be many, nothing is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from group_coordinator.binary.elements import varint_bytes
from group_coordinator.clients.channel.channel import Body
from group_coordinator.codecs import wire

_TOPIC = wire.Part("topics", is_element=True)
_SIZE_BYTES = 4
_ERROR_CODE_BYTES = 2
"""A topic in an answer begins with its error code, and its name follows."""
_CURSOR_BYTES = 6
"""What is behind the name in the cursor at the end of a DescribeTopicPartitions: a partition, and tags. Behind a topic's is more."""
_LEGAL = frozenset(b"-._0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
"""In names of topics."""
_TWO_BYTES = 0x80
"""A length from here on has two bytes, as names have at most 249."""


def without_topics(
    api: str, version: int, answer: bytes, instead: Mapping[str, Body | None]
) -> bytes:
    """An answer to Metadata or DescribeTopicPartitions, its size first.

    Args:
        api: the name of the API.
        version: its version.
        answer: of a broker.
        instead: by the name of each topic that must not be shown, what stands in its place; None: nothing.

    Raises:
        WireError: it does not parse.
    """
    message, is_flexible = f"{api}Response", wire.is_flexible(f"{api}Response", version)
    opening = wire.ResponseOpening(api, version, "topics", answer, _SIZE_BYTES)
    names = {_name_bytes(name, is_flexible=is_flexible): each for name, each in instead.items()}
    end = len(answer) - (_CURSOR_BYTES + 1 if api == "DescribeTopicPartitions" else 0)
    found = sorted(
        (start, name) for name in names for start in _places(answer, name, opening.end, end)
    )
    kept, at = [], opening.end
    for name_at, _ in found:
        start = name_at - _ERROR_CODE_BYTES
        kept.append(answer[at:start])
        _, at = wire.decode_at(message, version, answer, start, _TOPIC)
    bodies = [body for _, name in found if (body := names[name]) is not None]
    put = bytearray()
    for body in bodies:
        wire.encode_into(put, message, version, body, _TOPIC)
    opening.fields["topics"] += len(bodies) - len(found)
    return opening.followed_by(put, *kept, answer[at:])


def _name_bytes(name: str, *, is_flexible: bool) -> bytes:
    encoded = name.encode()
    length = len(encoded)
    return (varint_bytes(length + 1) if is_flexible else length.to_bytes(2)) + encoded


def _places(answer: bytes, name: bytes, at: int, end: int) -> Iterator[int]:
    """In a large answer this takes less time than a pattern."""
    while (at := answer.find(name, at, end)) >= 0:
        if name[0] not in _LEGAL or not _is_inside_of_name(answer, at, at + len(name)):
            yield at
        at += 1


def _is_inside_of_name(answer: bytes, at: int, end: int) -> bool:
    """Whether it is the end of a longer name: the byte before a name, its length, may be a letter of that one."""
    before = at - 1
    while not _reaches(answer, before, end):
        if answer[before] not in _LEGAL:
            return False
        before -= 1
    return True


def _reaches(answer: bytes, at: int, end: int) -> bool:
    """Whether a name whose length ends with this byte would reach that far; of two bytes the second is 1."""
    last, before = answer[at], answer[at - 1]
    if last == 1 and before >= _TWO_BYTES:
        return at + before >= end
    return last < _TWO_BYTES and at + last >= end
