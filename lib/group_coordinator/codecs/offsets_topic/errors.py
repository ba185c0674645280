"""What can be wrong with a message of __consumer_offsets."""

from __future__ import annotations


class OffsetsTopicError(ValueError):
    """Bytes that are no record of a group, or a record that does not fit into bytes."""


class UnknownRecordTypeError(OffsetsTopicError):
    """A key of a type that nobody here knows."""


class UnknownVersionError(OffsetsTopicError):
    """A value of a version that nobody here knows; its key could be read."""


class DamagedMessageError(OffsetsTopicError):
    """Bytes of a known type and version that are not what Kafka writes."""
