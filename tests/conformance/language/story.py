"""The stories, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from tests.conformance.language.consumer_script import ConsumerScript
from tests.conformance.language.lines import ScriptDraft, Story
from tests.conformance.language.script import Script

STORIES: Final[dict[str, Story]] = {}
_AT_ONCE: Final[dict[str, int | str]] = {"group_consumer_assignment_interval_ms": 0}


def story(**settings: int) -> Callable[[Callable[[Script], None]], Callable[[Script], None]]:
    """Register a function that writes a story's script; an underscore in a setting's name is a dot."""

    def register(write: Callable[[Script], None]) -> Callable[[Script], None]:
        draft = ScriptDraft()
        write(Script(draft))
        _register(write.__name__, write.__doc__, settings, draft, salt=None)
        return write

    return register


def consumer_story(
    **settings: int | str,
) -> Callable[[Callable[[ConsumerScript], None]], Callable[[ConsumerScript], None]]:
    """Register a story of consumer groups: both sides make up the same member ids, and time begins at 1,000.

    Targets are computed without delay where no assignment interval is set.
    """

    def register(write: Callable[[ConsumerScript], None]) -> Callable[[ConsumerScript], None]:
        draft = ScriptDraft(now_ms=1_000)
        write(ConsumerScript(draft))
        _register(write.__name__, write.__doc__, _AT_ONCE | settings, draft, salt="")
        return write

    return register


def _register(
    name: str,
    about: str | None,
    settings: Mapping[str, int | str],
    draft: ScriptDraft,
    *,
    salt: str | None,
) -> None:
    assert name not in STORIES, f"{name} is told twice"
    named = {key.replace("_", "."): str(value) for key, value in settings.items()}
    STORIES[name] = Story(name, (about or "").strip(), named, tuple(draft.lines), salt)
