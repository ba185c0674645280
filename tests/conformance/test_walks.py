from __future__ import annotations

import pytest

from tests.conformance.telling import Telling, disagreements, tell
from tests.conformance.walks import Walk
from tests.conformance.witness import Oracle, Ours

# Kafka leaves some choices, above all that of a new leader, to the hash of random ids: it may
# tell a walk in several ways, and ours must be one of them.
TELLINGS = 40


def what_kafka_answers(kafka: Telling, ours: Telling) -> Telling:
    """Leave out our answers to the requests that Kafka forgets: parked, then said again."""
    return ours.without(ours.answered() - kafka.answered())


@pytest.mark.oracle
@pytest.mark.parametrize("seed", range(100))
def test_kafka_could_tell_what_we_tell(seed: int, oracle: Oracle) -> None:
    story = Walk(seed).story(f"walk {seed}")
    ours = tell(story, Ours())
    found: list[str] = []
    for _ in range(TELLINGS):
        kafka = tell(story, oracle)
        found = list(disagreements(story, kafka, what_kafka_answers(kafka, ours)))
        if not found:
            return
    pytest.fail(f"walk {seed}\n" + "\n".join(found[:2]), pytrace=False)
