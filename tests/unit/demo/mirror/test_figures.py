from __future__ import annotations

import io

from rich.console import Console

from group_coordinator.demo.board import Frame
from group_coordinator.demo.mirror.figures import LOOK, MirrorFigures, line
from group_coordinator.demo.screen import picture

FIGURES = MirrorFigures(
    statuses={"OK": 11, "STALL": 1, "STOP": 2},
    record_count=2_417,
    behind_s=2.4,
    offset_count=38,
    total_lag=129,
    lost_count=9,
)


def shown(figures: MirrorFigures) -> str:
    console = Console(width=80, height=24, file=io.StringIO(), record=True)
    console.print(picture(Frame(figures), LOOK, "Ctrl-C ends it."), height=24)
    return console.export_text()


def test_everything_is_on_a_small_terminal() -> None:
    text = shown(FIGURES)

    assert max(map(len, text.splitlines())) <= 80
    for figure in (
        "14 groups by status",
        "STALL        1 commit the same",
        "STOP         2 commit no more",
        "2417",
        "2 s old, in the log",
        "129 records, in all",
        "9 offsets so far",
    ):
        assert figure in text


def test_nothing_is_known_before_the_first_batch() -> None:
    assert "0 groups by status" in shown(MirrorFigures())
    assert line(MirrorFigures()) is None


def test_figures_in_one_line() -> None:
    assert line(FIGURES) == (
        "groups: 11 OK, 1 STALL, 2 STOP; lag 129 records; 2417 records of __consumer_offsets, the newest 2 s old; "
        "38 offsets, 9 lost"
    )
