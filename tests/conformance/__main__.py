"""Show what Kafka does in some stories: `python -m tests.conformance [NAME]...`."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.conformance.lines import Line, Story
from tests.conformance.outcome import comparable, complaints
from tests.conformance.scripts import STORIES
from group_coordinator.local.jars import broker_jars
from tests.conformance.witness import Oracle, Witness, compiled_oracle, play


def show(story: Story, witness: Witness) -> list[str]:
    transcript = play(story, witness)
    shown = [f"\n=== {story.name}: {story.about} {dict(story.settings) or ''}"]
    for line, outputs in zip(story.lines, transcript.outputs, strict=True):
        shown.append("> " + brief(line))
        shown += ["    " + json.dumps(o) for o in comparable(outputs, transcript.names)]
        shown += ["    !!! " + complaint for complaint in complaints(line, outputs)]
    return shown


def brief(line: Line) -> str:
    event = line.text.get("event")
    if event is None:
        return json.dumps(line.text)
    return f"{line.text['at']} {event['api']} v{event['version']} {json.dumps(event['body'])}"


def main(names: Sequence[str]) -> None:
    jars = broker_jars()
    with tempfile.TemporaryDirectory() as folder:
        classes = compiled_oracle(jars, Path(folder))
        with Oracle(classes, jars, sys.stderr.buffer) as oracle:
            for story in [STORIES[name] for name in names or STORIES]:
                sys.stdout.write("\n".join(show(story, oracle)) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
