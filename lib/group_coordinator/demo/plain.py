"""Instead of the screen if the output is a file or a pipe: a line for everything that happens."""

from __future__ import annotations

from threading import Event, Thread
from typing import Self

from rich.console import Console

from group_coordinator.demo.board import Board, Frame, Happening
from group_coordinator.demo.screen import clock, grouped

_INTERVAL_S = 5.0


class PlainLines:
    """Prints the story as it happens, and the figures every few seconds."""

    def __init__(self, console: Console, board: Board) -> None:
        self._console = console
        self._board = board
        self._closing = Event()
        self._thread = Thread(target=self._print_figures, name="figures", daemon=True)
        board.listen(self._print)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._thread.join()

    def _print(self, happening: Happening) -> None:
        text = "\n".join(story_lines(happening))
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)

    def _print_figures(self) -> None:
        while not self._closing.wait(_INTERVAL_S):
            frame = self._board.frame()
            if frame.group_states and not frame.is_ending:
                self._console.print(figures_line(frame), highlight=False, soft_wrap=True)


def story_lines(happening: Happening) -> list[str]:
    """What happened, and below it its details."""
    return [
        f"{clock(happening.at_s):>5}  {happening.sentence}",
        *(f"       {line}" for line in happening.detail),
    ]


def figures_line(frame: Frame) -> str:
    """The figures of a frame in one line."""
    groups = ", ".join(f"{count} {state}" for state, count in grouped(frame.group_states).items())
    parts = [
        f"{groups} | {frame.member_count} members | {frame.consumer_group_count} groups by KIP-848"
    ]
    if frame.requests_per_s is not None:
        parts.append(f"{frame.requests_per_s:.0f} events/s")
    if frame.latency is not None:
        median, p99 = frame.latency
        parts.append(f"answers in {median:.1f} s (99 %: {p99:.1f} s)")
    if frame.batch_s is not None:
        parts.append(f"batch {frame.batch_s:.1f} s")
    if frame.offset_count is not None:
        parts.append(
            f"{frame.offset_count} offsets, {frame.expired_count or 0} expired, "
            f"{frame.deleted_count or 0} deleted"
        )
    return f"{clock(frame.elapsed_s):>5}  [{'; '.join(parts)}]"
