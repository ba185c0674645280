from __future__ import annotations

from pathlib import Path

from tests.support.state_diagram import diagram

README = Path(__file__).parents[3] / "lib" / "README.md"


def test_the_state_diagram_is_that_of_the_transition_table() -> None:
    assert diagram() in README.read_text(encoding="utf-8")
