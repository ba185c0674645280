"""The stories that scripts tell, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tests.conformance.lines import Story, Tape
from tests.conformance.script import Script

STORIES: Final[dict[str, Story]] = {}


def story(**settings: int) -> Callable[[Callable[[Script], None]], Callable[[Script], None]]:
    """Register a function that tells a story; an underscore in a setting's name is a dot."""

    def register(tell: Callable[[Script], None]) -> Callable[[Script], None]:
        tape = Tape()
        tell(Script(tape))
        named = {key.replace("_", "."): str(value) for key, value in settings.items()}
        name, about = tell.__name__, (tell.__doc__ or "").strip()
        STORIES[name] = Story(name, about, named, tuple(tape.lines))
        return tell

    return register
