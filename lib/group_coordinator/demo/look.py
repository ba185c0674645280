"""How a demo shows itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple

from rich.console import RenderableType

from group_coordinator.demo.board import Figures


class Look(NamedTuple, Generic[Figures]):
    """What differs between the screens, and between the lines, of two demos."""

    title: str
    panels: Callable[[Figures], Sequence[RenderableType]]
    """Of the figures; they stand beside each other."""
    line: Callable[[Figures], str | None]
    """The figures in one line; None: there is nothing to say yet."""
