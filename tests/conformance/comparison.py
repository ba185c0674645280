"""Holds a walk told by ours against what Kafka may tell of it.

Kafka leaves some choices, above all that of a new leader, to the hash of random ids: it may tell a walk in several ways,
and ours must be one of them.
"""

from __future__ import annotations

from tests.conformance.lines import Story
from tests.conformance.telling import Telling, disagreements, tell
from tests.conformance.witness import Oracle, Ours

_TELLINGS = 40


def differences_from_kafka(story: Story, oracle: Oracle) -> list[str]:
    """In which lines ours differs from the last of Kafka's tellings; nothing if it agrees with one of them."""
    ours = tell(story, Ours())
    found: list[str] = []
    for _ in range(_TELLINGS if story.salt is None else 1):
        kafka = tell(story, oracle)
        found = list(disagreements(story, kafka, _what_kafka_answers(kafka, ours)))
        if not found:
            break
    return found


def _what_kafka_answers(kafka: Telling, ours: Telling) -> Telling:
    """Leave out our answers to the requests that Kafka forgets: parked, then said again."""
    return ours.without(ours.answered() - kafka.answered())
