"""Orders and texts as Java has them, where Kafka's results depend on them.

Kafka's assignors break ties by the iteration order of hash tables: Java 17's java.util.HashMap and HashSet, and Kafka's
org.apache.kafka.timeline.TimelineHashMap. Not followed: a bucket of nine or more keys, which HashMap turns into a tree. The order
of a group's members decides its leader after a downgrade, and the order of timers of the same millisecond.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from operator import mul
from struct import iter_unpack, unpack
from typing import TypeAlias, TypeVar

from group_coordinator.binary.notation import uuid_bytes

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

    `room` is the number of keys for which the table has grown, if larger: such a table never shrinks. The members of a consumer
    group have this order, with its member_room; those of a classic group have the order of `new_hash_map_order`.
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


MemberOrder: TypeAlias = Callable[[Iterable[str], str, str | None], list[str]]


def member_order(
    present: Iterable[str], updated: str, replaced: str | None = None, *, room: int = 0
) -> list[str]:
    """Return the members of a group in the order of the table that TargetAssignmentBuilder makes of them.

    `present` has the members before the request, in the order in which they joined. `updated` is the member that sent the
    request, new or not. `replaced` is the static member that it replaces. `room` is the group's member_room, if it was larger
    before.
    """
    ids = [*present, updated]
    hashes = string_hashes(ids)
    # As in timeline_order; the hashes are needed again.
    slots = timeline_slots(hashes, max(room, len(ids)))
    newest_first = range(len(ids) - 1)[::-1]
    places = sorted(newest_first, key=slots.__getitem__)
    return _order_once_put(places, ids, hashes, replaced)


def upgraded_member_order(
    present: Iterable[str], updated: str, replaced: str | None = None
) -> list[str]:
    """Return the same order if `present` is in the order of the group's own table, as in an upgrade."""
    ids = [*present, updated]
    return _order_once_put(range(len(ids) - 1), ids, string_hashes(ids), replaced)


def _order_once_put(
    present: Iterable[int], ids: Sequence[str], hashes: Sequence[int], replaced: str | None
) -> list[str]:
    # Members are numbers of places in `ids`; the last is the sender of the request.
    puts = [*present]
    if replaced is not None:
        puts = [place for place in puts if ids[place] != replaced]
    newest = len(ids) - 1
    # A known member keeps its place; a new member is put last.
    if ids.index(ids[newest]) == newest:
        puts.append(newest)
    buckets = hash_map_buckets(hashes, len(puts))
    return [ids[place] for place in sorted(puts, key=buckets.__getitem__)]


def subscribed_order(names: Sequence[str], found: Sequence[str] = ()) -> list[str]:
    """Return a member's topics, by name or by its regex, in the order of Kafka's UnionSet of both."""
    by_name, by_regex = topic_name_order(names), topic_name_order(found)
    large, small = (by_name, by_regex) if len(by_name) > len(by_regex) else (by_regex, by_name)
    return list(dict.fromkeys([*large, *small]))


def topic_name_order(names: Sequence[str]) -> list[str]:
    """Return the topics of a subscription, or of a resolved regex, in the order of Kafka's set.

    A record has the names sorted, a request in the client's order: names that share a bucket stay in that order.
    """
    order = hash_map_order(names, string_spot, table_size_of_copy(len(names)))
    return list(dict.fromkeys(order))


_LONG = 1 << 63
_DURATION = re.compile(
    r"(?P<sign>[-+]?)P(?:(?P<days>[-+]?\d+)D)?"
    r"(?P<time>T(?:(?P<hours>[-+]?\d+)H)?(?:(?P<minutes>[-+]?\d+)M)?"
    r"(?:(?P<seconds>[-+]?\d+)(?:[.,](?P<fraction>\d{0,9}))?S)?)?",
    re.ASCII | re.IGNORECASE,
)
_UNITS_S = {"days": 86_400, "hours": 3_600, "minutes": 60, "seconds": 1}
_DIGITS = 19
"""The number of digits of the largest long."""
_SPACE = "".join(map(chr, range(0x21)))
_NUMBER = re.compile(r"([+-]?)0*(\d{1,40})")
"""40 digits are more than a long has; int() fails at a few thousand."""


def java_trimmed(text: str) -> str:
    """Return the text after Java's String.trim: control characters are removed too, other spaces of Unicode stay."""
    return text.strip(_SPACE)


def utf16_length(text: str) -> int:
    """Return the text's length in Java, where a character beyond U+FFFF counts as two."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def utf16_order(text: str) -> bytes:
    """Return a sort key in the order of String.compareTo, where characters beyond U+FFFF precede the last characters below."""
    return text.encode("utf-16-be", "surrogatepass")


def java_number(text: str) -> int | None:
    """Parse a number like Java's Long.parseLong, but without its range; None if the text is not a number.

    Java accepts a sign and the digits of any script, but no blanks, underscores or characters beyond U+FFFF.
    """
    match = _NUMBER.fullmatch(text)
    if match is None or max(text) > "\uffff":
        return None
    return int(match[1] + match[2])


def java_duration_ns(text: str) -> int | None:
    """Return the nanoseconds of a text for Java's Duration.parse; None if Java rejects the text or the time is too long."""
    match = _DURATION.fullmatch(text)
    parts = {} if match is None else {unit: match[unit] for unit in _UNITS_S if match[unit]}
    # Java requires at least one unit, and a unit after the T.
    if match is None or not parts or match["time"] in ("T", "t"):
        return None
    if any(len(part.lstrip("+-0")) > _DIGITS for part in parts.values()):
        return None
    seconds = [_integer(part) * _UNITS_S[unit] for unit, part in parts.items()]
    if not all(-_LONG <= part < _LONG for part in (*seconds, sum(seconds))):
        return None
    fraction_ns = int((match["fraction"] or "").ljust(9, "0"))
    # The sign of the seconds is also that of their fraction: "-0.5S" has no other.
    is_below_zero = (match["seconds"] or "").startswith("-")
    total_ns = sum(seconds) * 10**9 + (-fraction_ns if is_below_zero else fraction_ns)
    return -total_ns if match["sign"] == "-" else total_ns


def _integer(text: str) -> int:
    # int() fails at a few thousand digits, even if they are zeros.
    sign = -1 if text.startswith("-") else 1
    return sign * int(text.lstrip("+-0") or "0")
