"""The differences between Kafka's reader of requests and its reader of __consumer_offsets."""

from __future__ import annotations

from typing import NamedTuple

from group_coordinator.codecs.fields import HIGHEST_INT32


class Rules(NamedTuple):
    """Rules of a decoder and an encoder in addition to the layout of their message.

    With `fills_in_defaults` a decoded dict has every field of its version, and the encoder uses defaults for missing fields.
    Without it a decoded dict has no tagged field with its default, and a missing plain field is an error.
    """

    most_elements: int
    most_tagged_fields: int
    fills_in_defaults: bool


CONNECTION = Rules(most_elements=1_000_000, most_tagged_fields=10_000, fills_in_defaults=True)
"""Requests and responses, as Kafka 4.4.0 reads them."""
OFFSETS_TOPIC = Rules(HIGHEST_INT32, HIGHEST_INT32, fills_in_defaults=False)
"""The messages of __consumer_offsets, as Kafka 4.3.1 reads them and Kafka's formatter prints them."""
