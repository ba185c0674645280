"""The differences between Kafka's reader of requests and its reader of __consumer_offsets."""

from __future__ import annotations

from typing import NamedTuple

from group_coordinator.binary.elements import HIGHEST_INT32


class Rules(NamedTuple):
    """Rules of a decoder and an encoder in addition to the layout of their message.

    With `fills_in_defaults` a decoded dict has every field of its version, and the encoder uses defaults for missing fields.
    Without it a decoded dict has no tagged field with its default, and a missing plain field is an error.
    """

    most_elements: int
    """Of one array."""
    most_tagged_fields: int
    fills_in_defaults: bool
    refuses_longer_text: bool
    """Whether a text is an error that has more than 32,767 bytes with U+FFFD in the place of what is not UTF-8."""
    most_elements_in_all: int | None = None
    """Structs and texts in all arrays of a message; None: the size of the message is the only limit."""
    has_base64: bool = True
    """Whether bytes are base64 in a dict."""


RESPONSES = Rules(1_000_000, 10_000, fills_in_defaults=True, refuses_longer_text=True)
"""Responses, as Kafka 4.4.0 reads them, except for texts that nobody could write again."""
REQUESTS = RESPONSES._replace(most_elements_in_all=30_000)
"""Requests: an event of the highest `event.max.bytes` has about 11,000 partitions, and clients choose what they send."""
OFFSETS_TOPIC = Rules(
    HIGHEST_INT32, HIGHEST_INT32, fills_in_defaults=False, refuses_longer_text=False
)
"""The messages of __consumer_offsets, as Kafka 4.3.1 reads them and Kafka's formatter prints them."""
CONSUMER_PROTOCOL = OFFSETS_TOPIC._replace(fills_in_defaults=True, has_base64=False)
"""Subscriptions and assignments of classic consumers, as Kafka's coordinator reads them."""
