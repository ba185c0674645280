from __future__ import annotations

from collections import Counter

import pytest

from tests.conformance.kafka.coordinators import Oracle, Ours
from tests.conformance.language.meters import counted
from tests.conformance.language.transcript import (
    disagreements,
    forgotten_requests,
    play,
    script,
    unexpected,
)
from tests.conformance.stories import STORIES

KAFKA_COUNTS_MORE = {
    "several_groups_in_one_sweep": Counter({"offset-expiration": 14}),
    "a_producer_without_epoch_cannot_write": Counter({"offset-commit": 4}),
}
"""At each group of a sweep it adds all that the sweep has written so far (runtime/meters.py), and of commits what it could not write."""
SHOWN = 3  # one difference mostly explains those after it

every_story = pytest.mark.parametrize("name", STORIES)


def fail_with(name: str, found: list[str]) -> None:
    if found:
        more = [f"... and {len(found) - SHOWN} more lines"] if len(found) > SHOWN else []
        report = [*script(STORIES[name]), "", *found[:SHOWN], *more]
        pytest.fail("\n".join(report), pytrace=False)


@every_story
def test_we_tell_the_story(name: str) -> None:
    story = STORIES[name]
    ours = play(story, Ours())
    fail_with(name, list(unexpected(story, ours)))
    assert sorted(ours.remembered) == sorted(forgotten_requests(story))


@every_story
@pytest.mark.oracle
def test_kafka_tells_the_same_story(name: str, oracle: Oracle) -> None:
    story = STORIES[name]
    kafka = play(story, oracle)
    meters = oracle.meters()
    fail_with(name, [f"KAFKA, {found}" for found in unexpected(story, kafka)])
    assert kafka.remembered == []
    ours = play(story, Ours())
    fail_with(name, list(disagreements(story, kafka, ours)))
    assert meters == counted(ours) | KAFKA_COUNTS_MORE.get(name, Counter())
