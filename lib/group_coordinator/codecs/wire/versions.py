"""Ranges of versions, as Kafka's definitions write them."""

from __future__ import annotations

from functools import cache

NO_VERSIONS = range(0)
_ALL_LATER = 2**15
"""A version is an int16."""


@cache
def version_range(text: str) -> range:
    """Of "3", "3-5", "3+" or "none"."""
    if text == "none":
        return NO_VERSIONS
    if text.endswith("+"):
        return range(int(text.removesuffix("+")), _ALL_LATER)
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)
