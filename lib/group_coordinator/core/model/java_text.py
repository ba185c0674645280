"""Texts as Java sees them."""

from __future__ import annotations

_SPACE = "".join(map(chr, range(0x21)))


def java_trimmed(text: str) -> str:
    """The text as Java's String.trim leaves it: control characters go too, other spaces of Unicode stay."""
    return text.strip(_SPACE)
