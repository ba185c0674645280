"""What two readers of Kafka's do differently with the same layouts."""

from __future__ import annotations

from typing import NamedTuple

from group_coordinator.codecs.fields import HIGHEST_INT32


class Rules(NamedTuple):
    """The rules that a decoder and an encoder follow in addition to the layout of their message.

    If they fill in defaults, a decoded dict has every field of its version, and the encoder takes the default of a missing field.
    If not, a decoded dict has no tagged field with its default value, and a missing plain field is an error of the encoder.
    """

    most_elements: int
    most_tagged_fields: int
    fills_in_defaults: bool


CONNECTION = Rules(most_elements=1_000_000, most_tagged_fields=10_000, fills_in_defaults=True)
"""Requests and responses, as Kafka 4.4.0 reads them."""
OFFSETS_TOPIC = Rules(HIGHEST_INT32, HIGHEST_INT32, fills_in_defaults=False)
"""The messages of __consumer_offsets, as Kafka 4.3.1 reads them and Kafka's formatter prints them."""
