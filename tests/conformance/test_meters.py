"""Kafka's meters count in random scripts what ours do; in the stories too (test_scripts.py)."""

from __future__ import annotations

import pytest

from tests.conformance.kafka.coordinators import Oracle, Ours
from tests.conformance.language.meters import counted
from tests.conformance.language.transcript import disagreements, play, repeat
from tests.conformance.random_scripts.consumer import RandomConsumerScript

SEEDS = range(60)


@pytest.mark.oracle
def test_kafka_counts_what_we_count(oracle: Oracle) -> None:
    """Where both do the same: what chance decides is for test_random_scripts.py."""
    compared = 0
    for seed in SEEDS:
        story = RandomConsumerScript(seed).story(f"random script {seed}")
        kafka = play(story, oracle)
        meters = oracle.meters()
        ours = repeat(story, kafka.said, Ours())
        if any(disagreements(story, kafka, ours)):
            continue
        compared += 1
        assert meters == counted(ours), story.name

    assert compared > len(SEEDS) / 2
