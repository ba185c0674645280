"""What can be wrong with a message of __consumer_offsets."""

from __future__ import annotations


class OffsetsTopicError(ValueError):
    """Bytes that are no record of a group, or a record that does not fit into bytes."""


class UnknownRecordTypeError(OffsetsTopicError):
    """A key of another type: share and streams groups live in the same topic."""
