from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from group_coordinator.demo.coordinator.measures import Latency
from group_coordinator.demo.coordinator.show import CoordinatorFigures, CoordinatorShow
from group_coordinator.demo.gateway import GatewayCounts, GatewayFigures, GatewayShow
from group_coordinator.demo.mirror import MirrorFigures, MirrorShow
from group_coordinator.demo.runner import Show
from group_coordinator.demo.screen import ClosingPage, ShowFigures, display, picture, squeezed
from group_coordinator.demo.stage import DemoFolder, Interruption
from group_coordinator.demo.story import Board, Frame, StoryEvent
from group_coordinator.demo.tables_watch import TableCounts

TABLES = TableCounts(record_count=2_417, offset_count=318, lost_count=16, expired_count=12)
COORDINATOR = CoordinatorFigures(
    states={
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
    tables=TABLES,
)
MIRROR = MirrorFigures(TABLES, {"OK": 11, "STALL": 1, "STOP": 2}, total_lag=129, behind_s=2.4)
GATEWAY = GatewayFigures(GatewayCounts(34, 2, 123_456, 1_577, 0.25, 10.0), 10.5, TABLES)
FRAME = Frame(
    elapsed_s=67,
    expected_s=160,
    now="returns-desk: all members leave.",
    story=(
        StoryEvent(2, "A broker starts."),
        StoryEvent(40, "$ groups --delete", ("Error: not empty", "x" * 200)),
    ),
)


def lines(
    frame: Frame, figures: ShowFigures = COORDINATOR, width: int = 80, height: int = 24
) -> list[str]:
    console = Console(width=width, height=height, file=io.StringIO(), record=True)
    console.print(picture(frame, "A show", figures), height=height)
    return console.export_text().splitlines()


@pytest.mark.parametrize(
    ("figures", "parts", "line"),
    [
        (
            COORDINATOR,
            (
                *("50 groups, 21 of them by KIP-848", "Rebalancing      2 assign partitions"),
                *("62.3/s", "0.9 s half is faster", "1.7 s", "0.6 s", "318", "148", "retention"),
            ),
            (
                "41 Stable, 2 Rebalancing, 5 Empty, 2 Dead | 148 members | 21 groups by KIP-848; 62.3 events/s; "
                "responses in 0.9 s (99 %: 1.7 s); batch 0.6 s; 318 offsets, 12 expired, 4 deleted"
            ),
        ),
        (
            MIRROR,
            (
                *("14 groups by status", "STALL        1 commit the same", "2417"),
                *("STOP         2 commit no more", "2.4 s old, in the log", "129 records, in all"),
            ),
            (
                "groups: 11 OK, 1 STALL, 2 STOP; lag 129 records; 2417 records of __consumer_offsets, the newest 2.4 s old; "
                "318 offsets, 16 lost"
            ),
        ),
        (
            GATEWAY,
            ("123456 of all kinds", "0.25 s at most, to respond", "10.5 s the job's last batch"),
            (
                "34 connections, 123456 requests; 1577 responses by the job, half of them within 0.25 s; 318 offsets, "
                "12 expired, 4 deleted"
            ),
        ),
    ],
    ids=["coordinator", "mirror", "gateway"],
)
def test_all_figures_are_on_a_small_terminal_and_in_a_line(
    figures: ShowFigures, parts: tuple[str, ...], line: str
) -> None:
    text = "\n".join(lines(replace(FRAME, story=()), figures))

    assert "…" not in text
    for part in parts:
        assert part in text
    assert figures.line() == line


@pytest.mark.parametrize("figures", [CoordinatorFigures(), MirrorFigures(), GatewayFigures()])
def test_no_figure_is_known_at_first(figures: ShowFigures) -> None:
    assert "-" in "\n".join(lines(Frame(), figures))
    assert figures.line() is None


def test_the_story_is_on_a_small_terminal() -> None:
    text = "\n".join(lines(FRAME))

    for part in (
        *("1:07 of about 2:40", "Now: returns-desk: all members leave.", "0:02  A broker starts."),
        *("Error: not empty", "Ctrl-C ends the demo"),
    ):
        assert part in text


@pytest.mark.parametrize(("width", "height"), [(80, 24), (200, 60)])
def test_the_screen_is_filled_and_not_exceeded(width: int, height: int) -> None:
    shown = lines(FRAME, COORDINATOR, width, height)

    assert len(shown) == height
    assert max(map(len, shown)) <= width


def test_the_last_events_are_seen() -> None:
    story = tuple(StoryEvent(number, f"event {number}") for number in range(100))

    text = "\n".join(lines(replace(FRAME, story=story)))

    assert "event 99" in text
    assert "event 10 " not in text


@pytest.mark.parametrize("show", [CoordinatorShow, MirrorShow, GatewayShow])
def test_an_introduction_fits_on_a_small_terminal(show: type[Show]) -> None:
    story = (StoryEvent(0, f"{show.title}, in about 2:47 minutes.", show.introduction),)

    text = "\n".join(lines(replace(FRAME, story=(*story, StoryEvent(1, "A broker starts.")))))

    for line in (f"0:00  {show.title}", *show.introduction, "A broker starts."):
        assert line in text


def test_the_end_is_announced() -> None:
    assert "Ending" in "\n".join(lines(replace(FRAME, is_ending=True)))


def test_without_a_terminal_each_event_is_a_line() -> None:
    file = io.StringIO()
    board = Board(160, clock=lambda: 0.0)
    with display(Console(file=file, width=80), board, "A show", lambda: COORDINATOR):
        board.say("A broker starts.")
        board.add("$ groups --list", ("billing",))

    assert file.getvalue() == " 0:00  A broker starts.\n 0:00  $ groups --list\n       billing\n"
    assert board.frame().now == "A broker starts."


def test_rows_of_a_table_are_cut_and_sentences_of_a_command_are_not() -> None:
    error = "* Group 'billing' could not be deleted due to: GroupNotEmptyException: The group is not empty."
    row = f"billing  orders  {'consumer-' * 10}"
    story = (StoryEvent(1, "$ kafka-consumer-groups --delete", (error, row)),)

    shown = [line.strip("│ ") for line in lines(replace(FRAME, story=story))]

    at = next(number for number, line in enumerate(shown) if line.startswith("* Group"))
    assert " ".join(shown[at : at + 2]) == error
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


def test_the_story_is_repeated_in_whole_words_and_commands_as_they_were_typed(
    tmp_path: Path,
) -> None:
    file = io.StringIO()
    console = Console(file=file, width=40, force_terminal=True, color_system=None)
    folder = DemoFolder(tmp_path)
    command = "$ kafka-consumer-groups --list --state --timeout 20000"
    page = ClosingPage(console, folder, Interruption())
    page.repeat(
        [
            StoryEvent(4.0, "A broker starts, and with it a gateway for all of its clients."),
            StoryEvent(65.0, command, ("billing    Stable",)),
        ]
    )

    assert [line.rstrip() for line in file.getvalue().splitlines()][2:] == [
        " 0:04  A broker starts, and with it a",
        "       gateway for all of its clients.",
        f" 1:05  {command}",
        "       billing    Stable",
    ]
