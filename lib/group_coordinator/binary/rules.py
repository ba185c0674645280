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
    """The limit of an array."""
    most_tagged_fields: int
    fills_in_defaults: bool
    refuses_longer_text: bool
    """True: a text is an error if it has more than 32,767 bytes after U+FFFD replaced the bytes that are not UTF-8."""
    most_elements_in_all: int | None = None
    """The limit of structs and texts in all arrays of a message. None: the size of the message is the only limit."""
    has_base64: bool = True
    """True: bytes are base64 in a dict."""


RESPONSES = Rules(1_000_000, 10_000, fills_in_defaults=True, refuses_longer_text=True)
"""Rules for responses, as Kafka 4.4.0 reads them. Texts that cannot be written again are errors here, not in Kafka."""
REQUESTS = RESPONSES._replace(most_elements_in_all=30_000)
"""Rules for requests: an event of the highest `event.max.bytes` has about 11,000 partitions, and clients choose the content."""
OFFSETS_TOPIC = Rules(
    HIGHEST_INT32, HIGHEST_INT32, fills_in_defaults=False, refuses_longer_text=False
)
"""Rules for the messages of __consumer_offsets, as Kafka 4.4.0 reads them and Kafka's formatter prints them."""
CONSUMER_PROTOCOL = OFFSETS_TOPIC._replace(fills_in_defaults=True, has_base64=False)
"""Rules for subscriptions and assignments of classic consumers, as Kafka's coordinator reads them."""
