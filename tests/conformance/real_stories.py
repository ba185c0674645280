"""Stories that real consumers live through; each says what it shows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from tests.conformance.stage import Stage

RealStory: TypeAlias = Callable[[Stage], None]

STORIES: Final[dict[str, RealStory]] = {}


def real_story(play: RealStory) -> RealStory:
    """Register a function that plays a story."""
    STORIES[play.__name__] = play
    return play


@real_story
def one_member(stage: Stage) -> None:
    """It gets everything and goes."""
    stage.topics("orders:4")
    m1 = stage.consumer("m1", "orders")
    stage.until_shared((m1, 4))


@real_story
def two_join(stage: Stage) -> None:
    """The second gets what the first gives up."""
    stage.topics("orders:4")
    m1 = stage.consumer("m1", "orders")
    stage.until_shared((m1, 4))
    m2 = stage.consumer("m2", "orders")
    stage.until_shared((m1, 2), (m2, 2))
