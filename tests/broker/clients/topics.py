from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias


class Topics(NamedTuple):
    events: str
    responses: str


NewTopics: TypeAlias = Callable[[], Topics]
