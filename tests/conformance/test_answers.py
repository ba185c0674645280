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

CLASSIC_SCRIPTS = {
    name: RandomClassicScript(seed).story(name)
    for seed in range(100)
    for name in [f"random script {seed}"]
}
CONSUMER_SCRIPTS = {
    name: RandomConsumerScript(seed).story(name)
    for seed in range(100)
    for name in [f"random script of a consumer group {seed}"]
}


@pytest.mark.parametrize(
    "story", (STORIES | CLASSIC_SCRIPTS | CONSUMER_SCRIPTS).values(), ids=lambda story: story.name
)
def test_every_request_gets_one_answer(story: Story) -> None:
    end_ms = max(line.text.get("at", 0) for line in story.lines)
    lines = (*story.lines, Line({"at": end_ms + A_DAY_MS}))
    told = play(replace(story, lines=lines), Ours())
    asked = [line.text["event"]["correlationId"] for line in lines if "event" in line.text]
    answered = [o["correlationId"] for os in told.outputs for o in os if o["kind"] == "response"]
    assert sorted(answered + told.remembered) == sorted(filter(None, asked))
