"""The runner of all shows: opens a show, plays its scenes, ends its processes, and prints the closing page."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from rich.console import Console

from group_coordinator.demo.screen import ClosingPage, ShowFigures, clock, display
from group_coordinator.demo.stage import DemoFolder, Interrupted, Interruption, Stage
from group_coordinator.demo.story import Board, DemoOptions, Scene, Story
from group_coordinator.demo.tables_watch import TablesReader, ViewQuestion
from group_coordinator.local.child_process import CommandFailedError

_PATIENCE_S = 300.0
"""Time for the tables to reach the end of the story: a mirror of the user's cluster may have much to read."""


class Show(Protocol):
    """A show: its texts, its parts and its scenes. The runner calls its methods in this order."""

    title: str
    introduction: tuple[str, ...]
    """Lines that the story begins with."""
    cluster: str
    """The cluster's name in the tables."""
    questions: Sequence[ViewQuestion]
    group_prefix: str
    """Begin of the names of the demo's groups."""
    watch: TablesReader
    """The runner ends a show when its tables have the end of the story."""

    @property
    def figures(self) -> ShowFigures: ...

    def open(self, stage: Stage) -> None: ...

    def scenes(self) -> Sequence[Scene]: ...

    def close(self, page: ClosingPage) -> Sequence[tuple[str, str]]:
        """Print further answers, and return lines for the end of the page: name and text."""


def run(show: Show, options: DemoOptions, interruption: Interruption) -> None:
    """Play a show, then print the closing page.

    Raises:
        ClientError: a client gave up, or the cluster does not respond.
        CommandFailedError: a process ended, or the tables did not reach the end of the story.
        Interrupted: the user ended it; the message lists the files that are left.
    """
    folder = DemoFolder(Path.cwd() / time.strftime("group-coordinator-demo-%Y%m%d-%H%M%S"))
    board = Board(options.times.start_s + options.remaining_s)
    page = ClosingPage(Console(), folder, interruption)
    with _in_folder(folder, keep=options.keep):
        with (
            display(page.console, board, show.title, lambda: show.figures),
            ExitStack() as resources,
            ExitStack() as ending,
        ):
            ending.callback(board.announce_end)
            # A Ctrl-C goes to every process of the terminal: failures that it causes are not reported.
            ending.callback(interruption.check)
            _play(show, Stage(options, folder, board, interruption, resources))
        page.repeat(board.frame().story)
        page.answer(show.questions, show.group_prefix)
        lines = show.close(page)
        page.report(show.cluster)
        _print_places(page, lines, keep=options.keep)
        page.line(f"\nAt the end: {show.figures.line()}.")
        page.line(f"The demo took {clock(board.elapsed_s)} minutes.")


@contextmanager
def _in_folder(folder: DemoFolder, *, keep: bool) -> Iterator[None]:
    """Create the folder for a run; afterwards only the files that the closing page names are left of it, or all files."""
    folder.make()
    # Messages of libraries must not disturb the screen.
    logging.basicConfig(filename=folder.output("demo"), level=logging.WARNING)
    try:
        yield
    except Interrupted as wish:
        if keep:
            wish.args = (f"Interrupted. Nothing runs any more; all files are in {folder.path}.",)
        else:
            folder.remove()
        raise
    if not keep:
        folder.remove_scaffolding()


def _play(show: Show, stage: Stage) -> None:
    board, duration_s = stage.board, stage.options.duration_s
    expected = clock(board.frame().expected_s)
    board.say(f"{show.title}, in about {expected} minutes. Ctrl-C ends it.", show.introduction)
    show.open(stage)
    story = Story(show.scenes(), board)
    board.expect_end_in(stage.options.remaining_s)
    begun_s, ended_at = time.monotonic(), None
    while ended_at is None or not show.watch.have(ended_at):
        story_s = time.monotonic() - begun_s
        # A command of a scene has ended before the next scene: a group is reset before it is started again.
        if stage.is_idle:
            story.tick(story_s)
        stage.tick()
        if ended_at is None and story_s >= duration_s and story.is_over and stage.is_idle:
            ended_at = datetime.now(UTC)
            board.say("The story is over; its end is still on its way into the tables.")
        if story_s > duration_s + _PATIENCE_S:
            raise CommandFailedError(
                f"The tables did not reach the end of the story within {_PATIENCE_S:.0f} s; the output of all processes "
                f"is in {stage.folder.output('job').parent}, if the demo runs with --keep"
            )


def _print_places(page: ClosingPage, further: Sequence[tuple[str, str]], *, keep: bool) -> None:
    shown, folder = page.folder.shown, page.folder
    page.heading("What is left")
    lines = [
        ("The report", f"{shown(folder.report)}: open it in a browser"),
        ("The tables", shown(folder.tables)),
        ("Ask more", f'{page.program} sql {" ".join(page.shown_tables)} "SHOW TABLES"'),
        *further,
    ]
    if keep:
        lines.append(("All the rest", shown(folder.path)))
    lines.append(("Remove it", f"rm -r {shown(folder.path)}"))
    for name, text in lines:
        page.line(f"{name:<14}{text}")
