"""Committed offsets in a snapshot: neighbouring partitions of a topic together, with what is asked of all of them."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Raw, msgpack

from group_coordinator.core.model.group import Group
from group_coordinator.core.model.offset import CommittedOffset, OffsetAges
from group_coordinator.core.model.topic_offsets import OffsetBucket, TopicOffsets

PackedOffsets: TypeAlias = dict[str, dict[int, tuple[int, OffsetAges, Raw]]]
"""By topic and bucket: how many offsets there are, when the first one is due, and they themselves by partition."""

_encode = msgpack.Encoder().encode
_decode_bucket = msgpack.Decoder(dict[int, CommittedOffset]).decode


def pack(group: Group) -> PackedOffsets:
    """The offsets as they are written; only what has changed is encoded."""
    return {topic: _packed(offsets) for topic, offsets in group.offsets.items()}


def _packed(offsets: TopicOffsets) -> dict[int, tuple[int, OffsetAges, Raw]]:
    return {
        number: (
            bucket.size,
            bucket.known_ages or offsets.ages_in(bucket),
            bucket.encoded or _encoded(bucket),
        )
        for number, bucket in offsets.buckets.items()
    }


def _encoded(bucket: OffsetBucket) -> Raw:
    bucket.encoded = Raw(_encode(bucket.offsets))
    return bucket.encoded


def unpack(packed: PackedOffsets) -> dict[str, TopicOffsets]:
    """The inverse of pack."""
    return {
        topic: TopicOffsets(
            {
                number: OffsetBucket(size, ages, None, encoded)
                for number, (size, ages, encoded) in buckets.items()
            },
            _decode_bucket,
        )
        for topic, buckets in packed.items()
    }
