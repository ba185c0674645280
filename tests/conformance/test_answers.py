from __future__ import annotations

from dataclasses import replace

import pytest

from tests.conformance.kafka.coordinators import Ours
from tests.conformance.language.lines import Line, Story
from tests.conformance.language.transcript import play
from tests.conformance.random_scripts.classic import RandomClassicScript
from tests.conformance.random_scripts.consumer import RandomConsumerScript
from tests.conformance.stories import STORIES

A_DAY_MS = 86_400_000  # longer than anybody waits


LIVES = [
    name
    for name, story in STORIES.items()
    if not any("restart" in line.text for line in story.lines)
]
"""Requests that are pending at a restart are lost with it."""


@pytest.mark.parametrize("name", LIVES)
def test_every_request_of_a_story_gets_one_answer(name: str) -> None:
    check_that_every_request_gets_one_answer(STORIES[name])


@pytest.mark.parametrize("seed", range(100))
@pytest.mark.parametrize("script", [RandomClassicScript, RandomConsumerScript])
def test_every_request_of_a_random_script_gets_one_answer(
    script: type[RandomClassicScript | RandomConsumerScript], seed: int
) -> None:
    check_that_every_request_gets_one_answer(script(seed).story(f"random script {seed}"))


def check_that_every_request_gets_one_answer(story: Story) -> None:
    end_ms = max(line.text.get("at", 0) for line in story.lines)
    lines = (*story.lines, Line({"at": end_ms + A_DAY_MS}))
    ours = play(replace(story, lines=lines), Ours())
    asked = [line.text["event"]["correlationId"] for line in lines if "event" in line.text]
    answered = [o["correlationId"] for os in ours.outputs for o in os if o["kind"] == "response"]
    assert sorted(answered + ours.remembered) == sorted(filter(None, asked))
