"""Plain output of a demo if the output is a file or a pipe: a line per event."""

from __future__ import annotations

from functools import partial
from typing import Generic, Self

from rich.console import Console

from group_coordinator.background import Background, repeat
from group_coordinator.demo.board import Board, Figures, Happening
from group_coordinator.demo.look import Look
from group_coordinator.demo.screen import clock

_INTERVAL_S = 5.0


class PlainLines(Generic[Figures]):
    """Printer of the story as it happens, and of the figures every few seconds."""

    def __init__(self, console: Console, board: Board[Figures], look: Look[Figures]) -> None:
        self._console = console
        self._board = board
        self._look = look
        figures = partial(repeat, self._print_figures, interval_s=_INTERVAL_S)
        self._thread = Background(figures, "figures")
        board.listen(self._print)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.end()

    def _print(self, happening: Happening) -> None:
        text = "\n".join(story_lines(happening))
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)

    def _print_figures(self) -> None:
        frame = self._board.frame()
        line = self._look.line(frame.figures)
        if line is not None and not frame.is_ending:
            text = f"{clock(frame.elapsed_s):>5}  [{line}]"
            self._console.print(text, markup=False, highlight=False, soft_wrap=True)


def story_lines(happening: Happening) -> list[str]:
    """Return the sentence of an event, and its details below."""
    return [
        f"{clock(happening.at_s):>5}  {happening.sentence}",
        *(f"       {line}" for line in happening.detail),
    ]
