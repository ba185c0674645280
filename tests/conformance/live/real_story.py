"""The stories that real consumers live through, by name; each says what it shows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from tests.conformance.live.cluster import LiveCluster

RealStory: TypeAlias = Callable[[LiveCluster], None]

STORIES: Final[dict[str, RealStory]] = {}


def real_story(play: RealStory) -> RealStory:
    """Register a function that plays a story."""
    assert play.__name__ not in STORIES, f"{play.__name__} is played twice"
    STORIES[play.__name__] = play
    return play
