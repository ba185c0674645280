"""Numbers of members by what they have in common."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

Name = TypeVar("Name")


def add_to_counts(counts: dict[Name, int], names: Iterable[Name], change: int = 1) -> None:
    """Add to the count of each name, and remove names whose count is zero."""
    for name in names:
        number = counts.get(name, 0) + change
        if number:
            counts[name] = number
        else:
            del counts[name]
