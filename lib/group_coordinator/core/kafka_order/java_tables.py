"""The order in which Java's and Kafka's hash tables give their keys back: Kafka's assignors break ties by it.

Java 17's java.util.HashMap and HashSet, and Kafka's org.apache.kafka.timeline.TimelineHashMap. Not followed: a bucket
of nine or more keys, which HashMap turns into a tree.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import lru_cache
from operator import mul
from struct import unpack
from typing import TypeVar

from group_coordinator.core.uuids import uuid_bytes

Key = TypeVar("Key")

DEFAULT_TABLE_SIZE = 16
"""Buckets of `new HashMap<>()`."""

_INT = 0xFFFFFFFF
_LONG = 0xFFFFFFFFFFFFFFFF
_GOLDEN_RATIO = -7046029254386353131
_CHUNK = 64
_ASCENDING_POWERS_OF_31 = tuple(pow(31, exponent, 1 << 32) for exponent in range(_CHUNK))
_POWERS_OF_31 = _ASCENDING_POWERS_OF_31[::-1]


@lru_cache(maxsize=1 << 16)
def string_hash(text: str) -> int:
    """String.hashCode() as an unsigned int."""
    if len(text) <= _CHUNK and text.isascii():  # as nearly all ids are: in half of the time
        total: int = sum(map(mul, text.encode()[::-1], _ASCENDING_POWERS_OF_31))
        return total & _INT
    encoded = text.encode("utf-16-le", "surrogatepass")
    units = unpack(f"<{len(encoded) // 2}H", encoded)
    hash_code = 0
    for start in range(0, len(units), _CHUNK):
        chunk = units[start : start + _CHUNK]
        hash_code *= 31 ** len(chunk)
        hash_code += sum(map(mul, chunk, _POWERS_OF_31[-len(chunk) :]))
        hash_code &= _INT
    return hash_code


def uuid_words(topic_id: str) -> tuple[int, int]:
    """The two signed longs of a Uuid; Uuid.compareTo orders by them."""
    high, low = unpack(">qq", uuid_bytes(topic_id))
    return high, low


@lru_cache(maxsize=1 << 16)
def topic_spot(topic_id: str) -> int:
    """The spot of a Uuid in a HashMap: the lowest bits of it number its bucket."""
    high, low = uuid_words(topic_id)
    both = high ^ low
    return _spread(((both >> 32) ^ both) & _INT)


def string_spot(text: str) -> int:
    """The spot of a String in a HashMap: the lowest bits of it number its bucket."""
    return _spread(string_hash(text))


def _spread(hash_code: int) -> int:
    return hash_code ^ (hash_code >> 16)


def hash_map_order(keys: Iterable[Key], spot: Callable[[Key], int], table_size: int) -> list[Key]:
    """Keys in the order of a HashMap of so many buckets, into which they were put in the given order."""
    mask = table_size - 1
    return sorted(keys, key=lambda key: spot(key) & mask)


def table_size_for(capacity: int) -> int:
    """Buckets of `new HashMap<>(capacity)`."""
    return 1 << max(capacity - 1, 0).bit_length()


def table_size_of_copy(count: int) -> int:
    """Buckets of `new HashSet<>(collection)`."""
    return table_size_for(max(int(count / 0.75) + 1, DEFAULT_TABLE_SIZE))


def grown_table_size(table_size: int, count: int) -> int:
    """Buckets of a table that has held so many keys: it doubles when more than three in four would be taken."""
    while count > table_size * 3 // 4:
        table_size *= 2
    return table_size


def new_hash_map_order(texts: Collection[str]) -> list[str]:
    """Texts in the order of a `new HashMap<>()` into which they were put in the given order."""
    size = grown_table_size(DEFAULT_TABLE_SIZE, len(texts))
    return hash_map_order(texts, string_spot, size)


def partition_set_order(partitions: Sequence[int]) -> Sequence[int]:
    """Partitions (ascending) in the order of a `new HashSet<>(partitions)`."""
    table_size = table_size_of_copy(len(partitions))
    if partitions[-1] < table_size:
        return partitions
    return hash_map_order(partitions, _spread, table_size)


def timeline_order(keys: Iterable[str]) -> list[str]:
    """Keys in the order of a TimelineHashMap, into which they were put in the given order, each twice at least.

    Such a table never shrinks: one that has held more keys may have another order.
    """
    newest_first = list(keys)[::-1]
    # It looks for room before it looks for the key.
    return _timeline_order(newest_first, len(newest_first) + 1)


def new_timeline_order(keys: Iterable[str]) -> list[str]:
    """The same where each key was put once."""
    newest_first = list(keys)[::-1]
    return _timeline_order(newest_first, len(newest_first))


def _timeline_order(newest_first: list[str], places: int) -> list[str]:
    table_size = 2
    while places * 0.75 > table_size:
        table_size *= 2
    shift = 65 - table_size.bit_length()
    return sorted(newest_first, key=lambda key: _slot(key, shift))


def _slot(key: str, shift: int) -> int:
    unsigned = string_hash(key)
    hash_code = unsigned - (1 << 32) if unsigned >> 31 else unsigned
    return ((hash_code * _GOLDEN_RATIO) & _LONG) >> shift
