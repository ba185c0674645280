"""Messages of every record type and version, drawn from a seed: as the JSON that Kafka's own converters read."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from group_coordinator.binary.layouts import message_layout
from group_coordinator.codecs.offsets_topic.schemas import RECORDS
from tests.conformance.language.lines import Json
from tests.support.drawn_bodies import drawn_body

TYPES_AND_VERSIONS = [
    (record.type, version) for record in RECORDS.values() for version in record.value.versions
]
MESSAGES_OF_EACH = len(TYPES_AND_VERSIONS) + len(RECORDS)
"""One of each type and version, and a tombstone of each type."""


def drawn(random: Random, record_type: int, version: int) -> Json:
    """A message of this type and version."""
    record = RECORDS[record_type]
    key = drawn_body(random, message_layout(record.key, 0))
    value = drawn_body(random, message_layout(record.value, version))
    return {"type": record_type, "version": version, "key": key, "value": value}


def one_of_each(random: Random) -> Iterator[Json]:
    """A message of each type and version, and a tombstone of each type."""
    for record_type, version in TYPES_AND_VERSIONS:
        message = drawn(random, record_type, version)
        yield message
        if version == 0:
            yield message | {"value": None}
