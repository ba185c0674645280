from __future__ import annotations

import pytest

from tests.conformance.kafka.coordinators import Oracle
from tests.conformance.language.comparison import differences_from_kafka
from tests.conformance.random_scripts.classic import RandomClassicScript
from tests.conformance.random_scripts.consumer import RandomConsumerScript
from tests.conformance.random_scripts.restarts import restarted

SEEDS = range(200)
"""The long run plays thousands more (random_scripts/long_run.py)."""


# The last two: ids that share a bucket, right after an upgrade.
@pytest.mark.oracle
@pytest.mark.parametrize("seed", [*SEEDS, 11427, 14128])
def test_kafka_tells_of_consumer_groups_what_we_tell(seed: int, oracle: Oracle) -> None:
    found = differences_from_kafka(
        RandomConsumerScript(seed).story(f"random script {seed}"), oracle
    )
    if found:
        again = f"python -m tests.conformance.random_scripts.long_run --only consumers --first-seed {seed} --scripts 1"
        pytest.fail(f"{again}\n" + "\n".join(found[:2]), pytrace=False)


@pytest.mark.oracle
@pytest.mark.parametrize("seed", SEEDS)
def test_kafka_could_tell_what_we_tell(seed: int, oracle: Oracle) -> None:
    found = differences_from_kafka(RandomClassicScript(seed).story(f"random script {seed}"), oracle)
    if found:
        pytest.fail(f"random script {seed}\n" + "\n".join(found[:2]), pytrace=False)


# Others than above where there is no restart. The last three: sessions that end together; then a cluster without topics.
@pytest.mark.oracle
@pytest.mark.parametrize("seed", [*range(200, 260), 157, 495, 591, 59, 93, 106])
def test_kafka_tells_the_same_of_consumer_groups_after_restarts(seed: int, oracle: Oracle) -> None:
    story = restarted(RandomConsumerScript(seed).story(f"random script {seed}"), seed)
    found = differences_from_kafka(story, oracle)
    if found:
        pytest.fail(f"random script {seed}\n" + "\n".join(found[:2]), pytrace=False)


@pytest.mark.oracle
@pytest.mark.parametrize("seed", range(200, 240))
def test_kafka_could_tell_the_same_after_restarts(seed: int, oracle: Oracle) -> None:
    story = restarted(RandomClassicScript(seed).story(f"random script {seed}"), seed)
    found = differences_from_kafka(story, oracle)
    if found:
        pytest.fail(f"random script {seed}\n" + "\n".join(found[:2]), pytrace=False)
