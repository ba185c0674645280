from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from group_coordinator.demo.board import Board, Frame, Happening
from group_coordinator.demo.closing_page import ClosingPage
from group_coordinator.demo.coordinator_figures import LOOK, CoordinatorFigures, line
from group_coordinator.demo.folder import DemoFolder
from group_coordinator.demo.interruption import Interruption
from group_coordinator.demo.measures import Latency
from group_coordinator.demo.plain import PlainLines
from group_coordinator.demo.screen import picture, squeezed

FIGURES = CoordinatorFigures(
    group_states={
        "Stable": 41,
        "PreparingRebalance": 1,
        "CompletingRebalance": 1,
        "Empty": 5,
        "Dead": 2,
    },
    member_count=148,
    consumer_group_count=21,
    requests_per_s=62.3,
    latency=Latency(0.92, 1.71),
    batch_s=0.61,
    offset_count=318,
    expired_count=12,
    deleted_count=4,
)
FRAME = Frame(
    FIGURES,
    elapsed_s=67,
    expected_s=160,
    now="returns-desk: all members leave.",
    told=(
        Happening(2, "A broker starts."),
        Happening(40, "$ groups --delete", ("Error: not empty", "x" * 200)),
    ),
)


def lines(frame: Frame[CoordinatorFigures], width: int = 80, height: int = 24) -> list[str]:
    console = Console(width=width, height=height, file=io.StringIO(), record=True)
    console.print(picture(frame, LOOK, "Ctrl-C ends it."), height=height)
    return console.export_text().splitlines()


def test_everything_is_on_a_small_terminal() -> None:
    text = "\n".join(lines(FRAME))

    for figure in (
        "1:07 of about 2:40",
        "50 groups, 21 of them by KIP-848",
        "62/s",
        "0.9 s",
        "1.7 s",
        "0.6 s",
        "318",
        "148",
    ):
        assert figure in text
    for sentence in (
        "Now: returns-desk: all members leave.",
        "0:02  A broker starts.",
        "Error: not empty",
    ):
        assert sentence in text
    assert "Ctrl-C ends it." in text
    assert "Rebalancing      2 sharing out work" in text


@pytest.mark.parametrize(("width", "height"), [(80, 24), (200, 60)])
def test_the_screen_is_filled_and_not_left(width: int, height: int) -> None:
    shown = lines(FRAME, width, height)

    assert len(shown) == height
    assert max(map(len, shown)) <= width


def test_what_was_told_last_is_seen() -> None:
    told = tuple(Happening(number, f"event {number}") for number in range(100))

    text = "\n".join(lines(replace(FRAME, told=told)))

    assert "event 99" in text
    assert "event 10 " not in text


def test_nothing_is_known_at_first() -> None:
    assert "0 groups" in "\n".join(lines(Frame(CoordinatorFigures())))


def test_the_end_is_announced() -> None:
    assert "Ending" in "\n".join(lines(replace(FRAME, is_ending=True)))


def test_figures_in_one_line() -> None:
    assert line(FIGURES) == (
        "41 Stable, 2 Rebalancing, 5 Empty, 2 Dead | 148 members | 21 groups by KIP-848; 62 events/s; "
        "answers in 0.9 s (99 %: 1.7 s); batch 0.6 s; 318 offsets, 12 expired, 4 deleted"
    )


def test_without_a_terminal_everything_told_is_a_line() -> None:
    file = io.StringIO()
    board = Board(FIGURES, 160, clock=lambda: 0.0)
    with PlainLines(Console(file=file, width=80), board, LOOK):
        board.say("A broker starts.")
        board.tell("$ groups --list", ("billing",))

    assert file.getvalue() == " 0:00  A broker starts.\n 0:00  $ groups --list\n       billing\n"
    assert board.frame().now == "A broker starts."


def test_rows_of_a_table_are_cut_and_what_a_command_says_is_not() -> None:
    refusal = "* Group 'billing' could not be deleted due to: GroupNotEmptyException: The group is not empty."
    row = f"billing  orders  {'consumer-' * 10}"
    told = (Happening(1, "$ kafka-consumer-groups --delete", (refusal, row)),)

    shown = [line.strip("│ ") for line in lines(replace(FRAME, told=told))]

    at = next(number for number, line in enumerate(shown) if line.startswith("* Group"))
    assert " ".join(shown[at : at + 2]) == refusal
    assert shown[at + 2].startswith("billing  orders  consumer-")
    assert shown[at + 2].endswith("…")


def test_a_wide_table_moves_together() -> None:
    assert squeezed(["GROUP      LAG      HOST", "billing    1        /a"]) == [
        "GROUP    LAG  HOST",
        "billing  1    /a",
    ]
    assert squeezed(["Error: not empty   at all"]) == ["Error: not empty  at all"]
    said = "Warning: it is rebalancing."
    assert squeezed([said, "GROUP      LAG", "billing    1"]) == [
        said,
        "GROUP    LAG",
        "billing  1",
    ]
    assert squeezed([]) == []


def test_the_story_is_told_again_in_whole_words_and_commands_as_they_were_typed(
    tmp_path: Path,
) -> None:
    file = io.StringIO()
    console = Console(file=file, width=40, force_terminal=True, color_system=None)
    folder = DemoFolder(tmp_path)
    command = "$ kafka-consumer-groups --list --state --timeout 20000"
    page = ClosingPage(console, folder, Interruption())
    page.retell(
        [
            Happening(4.0, "A broker starts, and with it a gateway that nobody has seen yet."),
            Happening(65.0, command, ("billing    Stable",)),
        ]
    )

    assert [line.rstrip() for line in file.getvalue().splitlines()][2:] == [
        " 0:04  A broker starts, and with it a",
        "       gateway that nobody has seen yet.",
        f" 1:05  {command}",
        "       billing    Stable",
    ]
