"""Committed offsets in a group state: buckets of neighbouring partitions, with the number and ages of their offsets."""

from __future__ import annotations

from functools import partial
from typing import TypeAlias

from msgspec import Raw, msgpack

from group_coordinator.codecs.snapshots.errors import reader_of_a_part
from group_coordinator.core.model.offset import CommittedOffset, OffsetAges
from group_coordinator.core.model.stored_values import StoredValues
from group_coordinator.core.model.topic_offsets import OffsetBucket, StoredTopic, TopicOffsets

PackedBuckets: TypeAlias = dict[int, tuple[int, OffsetAges, Raw]]
"""Buckets by number: the number of offsets, their ages, and the offsets by partition."""

_encode = msgpack.Encoder().encode
_decode_buckets = msgpack.Decoder(PackedBuckets).decode
_decode_bucket = msgpack.Decoder(dict[int, CommittedOffset]).decode


def pack(offsets: StoredValues[TopicOffsets, StoredTopic]) -> dict[str, StoredTopic]:
    """Convert the offsets for encoding. Only changed buckets are encoded."""
    return offsets.stored(_packed)


def _packed(offsets: TopicOffsets) -> StoredTopic:
    # Most topics have few partitions: a single bucket needs no table of buckets.
    if len(offsets.buckets) == 1:
        ((number, bucket),) = offsets.buckets.items()
        return StoredTopic(bucket.size, offsets.ages, number, _encoded(bucket))
    buckets = {
        number: (bucket.size, offsets.ages_in(number), _encoded(bucket))
        for number, bucket in offsets.buckets.items()
    }
    return StoredTopic(offsets.size, offsets.ages, None, Raw(_encode(buckets)))


def _encoded(bucket: OffsetBucket) -> Raw:
    if bucket.encoded is None:
        bucket.encoded = Raw(_encode(bucket.offsets))
    return bucket.encoded


def unpack(packed: dict[str, StoredTopic]) -> StoredValues[TopicOffsets, StoredTopic]:
    """Convert decoded offsets. Buckets are decoded when they are read."""
    return StoredValues.unread(packed, _unpacked)


@reader_of_a_part
def _unpacked(topic: str, stored: StoredTopic) -> TopicOffsets:
    if stored.bucket is not None:
        bucket = OffsetBucket(stored.size, stored.ages, None, stored.encoded)
        return TopicOffsets({stored.bucket: bucket}, partial(_bucket, topic))
    buckets = {
        number: OffsetBucket(size, ages, None, encoded)
        for number, (size, ages, encoded) in _decode_buckets(stored.encoded).items()
    }
    return TopicOffsets(buckets, partial(_bucket, topic))


@reader_of_a_part
def _bucket(_topic: str, encoded: Raw) -> dict[int, CommittedOffset]:
    return _decode_bucket(encoded)
