from __future__ import annotations

import io

import pytest
from rich.console import Console

from group_coordinator.demo.board import Frame
from group_coordinator.demo.gateway.counted import Counted
from group_coordinator.demo.gateway.figures import LOOK, GatewayFigures
from group_coordinator.demo.screen import picture

FIGURES = GatewayFigures(Counted(34, 2, 123_456, 1_577, 0.25, 10.0), 10.5, 31, 5, 2)


@pytest.mark.parametrize("width", [80, 120])
def test_every_figure_is_shown_with_all_that_it_means(width: int) -> None:
    console = Console(file=io.StringIO(), width=width, height=24, color_system=None)
    with console.capture() as captured:
        console.print(picture(Frame(FIGURES), LOOK, "Ctrl-C ends it."))
    text = captured.get()

    assert "…" not in text
    assert "123456 of all kinds" in text
    assert "0.25 s at most, to answer" in text
    assert "10.5 s one round of the job" in text
