from __future__ import annotations

from contextlib import closing
from pathlib import Path

from tests.conformance.kafka.coordinators import Command, Ours
from tests.conformance.language.transcript import disagreements, play
from tests.conformance.stories import STORIES


def test_the_command_tells_what_the_state_machine_tells(tmp_path: Path) -> None:
    story = STORIES["offsets_go_with_their_topic"]
    with (tmp_path / "log").open("wb") as log, closing(Command(log)) as command:
        told = play(story, command)
    assert list(disagreements(story, play(story, Ours()), told)) == []
    assert (tmp_path / "log").read_text() == ""
