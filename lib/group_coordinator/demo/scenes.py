"""Scenes of a story, and their player."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from group_coordinator.demo.board import Board


class Scene(NamedTuple):
    """An action at a time of the story."""

    at_s: float
    sentence: str
    act: Callable[[], object] | None = None


class Story:
    """Player of each scene at its time."""

    def __init__(self, scenes: Iterable[Scene], board: Board[Any]) -> None:
        self._ahead = sorted(scenes, key=lambda scene: scene.at_s)
        self._board = board

    @property
    def is_over(self) -> bool:
        """True if every scene was played."""
        return not self._ahead

    def tick(self, story_s: float) -> None:
        """Play the scenes that are due."""
        while self._ahead and self._ahead[0].at_s <= story_s:
            scene = self._ahead.pop(0)
            self._board.say(scene.sentence)
            if scene.act is not None:
                scene.act()
