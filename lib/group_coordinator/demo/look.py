"""Presentation of a demo's figures on the screen or in lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple

from rich.console import RenderableType

from group_coordinator.demo.board import Figures


class Look(NamedTuple, Generic[Figures]):
    """Differences between the screens, and between the lines, of two demos."""

    title: str
    panels: Callable[[Figures], Sequence[RenderableType]]
    """Returns panels of the figures, which stand next to each other."""
    line: Callable[[Figures], str | None]
    """Returns the figures in a line; None: there is nothing to show yet."""
