"""Topics that a broker's answer must not show are cut out of it: of all others, which may be many, nothing is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from group_coordinator.codecs import wire
from group_coordinator.codecs.wire.places import ArrayPlace
from group_coordinator.gateway.group_part import Body

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
    place = ArrayPlace(api, version, "topics")
    array_at, count, at = place.begin(answer)
    names = {place.text(name): each for name, each in instead.items()}
    end = len(answer) - (_CURSOR_BYTES + 1 if api == "DescribeTopicPartitions" else 0)
    found = sorted((start, name) for name in names for start in _places(answer, name, at, end))
    kept = []
    for name_at, _ in found:
        start = name_at - _ERROR_CODE_BYTES
        kept.append(answer[at:start])
        at = place.after(answer, start)
    bodies = (names[name] for _, name in found)
    put = [_encoded(api, version, body) for body in bodies if body is not None]
    number = place.count(count - len(found) + len(put))
    rest = b"".join((answer[_SIZE_BYTES:array_at], number, *put, *kept, answer[at:]))
    return len(rest).to_bytes(_SIZE_BYTES) + rest


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


def _encoded(api: str, version: int, topic: Body) -> bytes:
    place, alone = ArrayPlace(api, version, "topics"), {"topics": [topic]}
    answer = wire.response(api, version, 0, alone)
    _, _, at = place.begin(answer)
    return answer[at : place.after(answer, at)]
