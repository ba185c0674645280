"""The iteration order of Java's and Kafka's hash tables. Kafka's assignors break ties by it.

The tables are Java 17's java.util.HashMap and HashSet, and Kafka's org.apache.kafka.timeline.TimelineHashMap. Not followed: a
bucket of nine or more keys, which HashMap turns into a tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from operator import mul
from struct import iter_unpack, unpack
from typing import TypeVar

from group_coordinator.binary.uuids import uuid_bytes

Key = TypeVar("Key")

DEFAULT_TABLE_SIZE = 16
"""The number of buckets of `new HashMap<>()`."""

_INT = 0xFFFFFFFF
_SIGN = 0x80000000
_GOLDEN_RATIO = -7046029254386353131
_CHUNK = 64
_ASCENDING_POWERS_OF_31 = tuple(pow(31, exponent, 1 << 32) for exponent in range(_CHUNK))
_POWERS_OF_31 = _ASCENDING_POWERS_OF_31[::-1]
_MANY = 64
_LANE = 5
"""The bytes of a hash: 32 bits grow to 37 before they are cut again."""


@lru_cache(maxsize=1 << 16)
def string_hash(text: str) -> int:
    if len(text) <= _CHUNK and text.isascii():  # as nearly all ids are: in half of the time
        total: int = sum(map(mul, text.encode()[::-1], _ASCENDING_POWERS_OF_31))
        return total & _INT
    # A Java char is a UTF-16 unit.
    encoded = text.encode("utf-16-le", "surrogatepass")
    units = unpack(f"<{len(encoded) // 2}H", encoded)
    hash_code = 0
    for start in range(0, len(units), _CHUNK):
        chunk = units[start : start + _CHUNK]
        hash_code *= 31 ** len(chunk)
        hash_code += sum(map(mul, chunk, _POWERS_OF_31[-len(chunk) :]))
        hash_code &= _INT
    return hash_code


def string_hashes(texts: Sequence[str]) -> list[int]:
    longest = max(map(len, texts), default=0)
    if len(texts) >= _MANY and longest <= _CHUNK:
        # Zeros in front do not change a hash.
        characters = "".join([text.rjust(longest, "\0") for text in texts])
        if characters.isascii():
            return _hashes_at_once(characters.encode(), len(texts), longest)
    return [string_hash(text) for text in texts]


def _hashes_at_once(characters: bytes, count: int, length: int) -> list[int]:
    # Each lane of one long number has a hash, and takes a character at a time: a fifth of the time.
    mask = int.from_bytes(_INT.to_bytes(_LANE, "little") * count, "little")
    lanes, hashes = bytearray(_LANE * count), 0
    for column in range(length):
        lanes[::_LANE] = characters[column::length]
        hashes = (31 * hashes + int.from_bytes(lanes, "little")) & mask
    return [found for (found,) in iter_unpack("<Ix", hashes.to_bytes(len(lanes), "little"))]


def uuid_words(topic_id: str) -> tuple[int, int]:
    """Return the two signed longs of a Uuid. Uuid.compareTo orders by them."""
    high, low = unpack(">qq", uuid_bytes(topic_id))
    return high, low


@lru_cache(maxsize=1 << 16)
def topic_spot(topic_id: str) -> int:
    """Return the spread hash of a Uuid in a HashMap. Its lowest bits are the number of its bucket."""
    high, low = uuid_words(topic_id)
    # Uuid.hashCode.
    both = high ^ low
    return _spread(((both >> 32) ^ both) & _INT)


def string_spot(text: str) -> int:
    """Return the spread hash of a String in a HashMap. Its lowest bits are the number of its bucket."""
    return _spread(string_hash(text))


def _spread(hash_code: int) -> int:
    return hash_code ^ (hash_code >> 16)


def hash_map_order(keys: Iterable[Key], spot: Callable[[Key], int], table_size: int) -> list[Key]:
    """Return keys in the order of a HashMap with so many buckets, into which they were put in the given order."""
    mask = table_size - 1
    return sorted(keys, key=lambda key: spot(key) & mask)


def table_size_for(capacity: int) -> int:
    """Return the number of buckets of `new HashMap<>(capacity)`."""
    return 1 << max(capacity - 1, 0).bit_length()


def table_size_of_copy(count: int) -> int:
    """Return the number of buckets of `new HashSet<>(collection)`."""
    return table_size_for(max(int(count / 0.75) + 1, DEFAULT_TABLE_SIZE))


def grown_table_size(table_size: int, count: int) -> int:
    """Return the number of buckets after so many keys. The table doubles if more than three in four would be used."""
    while count > table_size * 3 // 4:
        table_size *= 2
    return table_size


def new_hash_map_order(texts: Iterable[str]) -> list[str]:
    """Return texts in the order of a `new HashMap<>()` into which they were put in the given order."""
    put = [*texts]
    buckets = hash_map_buckets(string_hashes(put), len(put))
    return [put[place] for place in sorted(range(len(put)), key=buckets.__getitem__)]


def hash_map_buckets(hashes: Iterable[int], count: int) -> list[int]:
    """Return the bucket of each hash in a `new HashMap<>()` into which so many keys were put."""
    mask = grown_table_size(DEFAULT_TABLE_SIZE, count) - 1
    return [(hash_code ^ (hash_code >> 16)) & mask for hash_code in hashes]


def partition_set_order(partitions: Sequence[int]) -> Sequence[int]:
    """Return partitions (ascending) in the order of a `new HashSet<>(partitions)`."""
    table_size = table_size_of_copy(len(partitions))
    # Each partition has its own bucket, in ascending order.
    if partitions[-1] < table_size:
        return partitions
    return hash_map_order(partitions, _spread, table_size)


def timeline_order(keys: Iterable[str], room: int = 0) -> list[str]:
    """Return keys in the order of a TimelineHashMap, into which they were put in the given order.

    `room` is the number of keys for which the table has grown, if larger: such a table never shrinks.
    """
    newest_first = list(keys)[::-1]
    slots = timeline_slots(string_hashes(newest_first), max(room, len(newest_first)))
    return [newest_first[place] for place in sorted(range(len(slots)), key=slots.__getitem__)]


def timeline_slots(hashes: Iterable[int], places: int) -> list[int]:
    """Return the slot of each hash in a TimelineHashMap that has grown for so many keys. In a slot the newest key is first."""
    table_size = 2
    while places * 0.75 > table_size:
        table_size *= 2
    shift, mask = 65 - table_size.bit_length(), table_size - 1
    # The uppermost bits of a long; the hash is a signed int.
    return [(((hash_code ^ _SIGN) - _SIGN) * _GOLDEN_RATIO >> shift) & mask for hash_code in hashes]
