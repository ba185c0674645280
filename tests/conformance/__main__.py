"""Show what Kafka does in these stories, or in all: `python -m tests.conformance [NAME]...`."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from contextlib import closing

from tests.conformance.kafka.coordinators import Coordinator, Oracle
from tests.conformance.language.lines import Story
from tests.conformance.language.transcript import brief, play, unexpected
from tests.conformance.stories import STORIES


def show(story: Story, coordinator: Coordinator) -> list[str]:
    transcript = play(story, coordinator)
    shown = [f"=== {story.name} {dict(story.settings) or ''}", story.about]
    for line, outputs in zip(story.lines, transcript.comparable(), strict=True):
        shown += ["> " + brief(line), *("    " + json.dumps(output) for output in outputs)]
    return [*shown, *("!!! " + found for found in unexpected(story, transcript)), ""]


def main(names: Sequence[str]) -> None:
    with closing(Oracle(sys.stderr.buffer)) as oracle:
        for name in names or STORIES:
            sys.stdout.write("\n".join(show(STORIES[name], oracle)) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
