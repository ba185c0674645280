"""Hashes of topic metadata. A consumer group stores them, and they change with the topics.

Source: computeTopicHash and computeGroupHash in Kafka 4.4's group/Utils.java. The hash is XXH3 of 64 bits, over numbers in little
endian and texts as hash4j writes them, in UTF-16 followed by their length.
"""

from __future__ import annotations

from collections.abc import Mapping
from struct import pack, unpack

from xxhash import xxh3_64, xxh3_64_intdigest

from group_coordinator.binary.uuids import uuid_bytes
from group_coordinator.core.java_text import utf16_length, utf16_order
from group_coordinator.core.model.topic import Topic

_HASH_VERSION = b"\0"
_HIGHEST_INT64 = 2**63 - 1


def topic_hash(topic: Topic) -> int:
    """Return the hash of a topic's id, name, number of partitions and racks, as a signed number of 64 bits."""
    most, least = unpack(">qq", uuid_bytes(topic.topic_id))
    hashed = xxh3_64(_HASH_VERSION + pack("<qq", most, least))
    hashed.update(_text(topic.name) + pack("<i", topic.num_partitions))
    # Kafka hashes each partition with its racks; without racks only the numbers are left.
    if not topic.racks:
        hashed.update(pack(f"<{topic.num_partitions}i", *range(topic.num_partitions)))
        return _signed(hashed.intdigest())
    for partition in range(topic.num_partitions):
        hashed.update(pack("<i", partition))
        racks = topic.racks[partition] if partition < len(topic.racks) else ()
        for rack in sorted(racks, key=utf16_order):
            # Kafka writes the length first, though hash4j also appends it.
            hashed.update(pack("<i", utf16_length(rack)) + _text(rack))
    return _signed(hashed.intdigest())


def group_hash(topic_hashes: Mapping[str, int]) -> int:
    """Return the hash of topic hashes by name, in the order of the names; 0 for no topics."""
    if not topic_hashes:
        return 0
    hashes = [topic_hashes[name] for name in sorted(topic_hashes, key=utf16_order)]
    return _signed(xxh3_64_intdigest(pack(f"<{len(hashes)}q", *hashes)))


def _text(text: str) -> bytes:
    return text.encode("utf-16-le") + pack("<i", utf16_length(text))


def _signed(number: int) -> int:
    return number if number <= _HIGHEST_INT64 else number - 2**64
