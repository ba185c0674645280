from __future__ import annotations

from typing import NamedTuple


class Topics(NamedTuple):
    events: str
    responses: str
