"""Texts as Java sees them."""

from __future__ import annotations

_SPACE = "".join(map(chr, range(0x21)))


def java_trimmed(text: str) -> str:
    """The text as Java's String.trim leaves it: control characters go too, other spaces of Unicode stay."""
    return text.strip(_SPACE)


def utf16_length(text: str) -> int:
    """The text's length in Java: a character beyond the first 65,536 counts as two."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def utf16_order(text: str) -> bytes:
    """A key to sort by as String.compareTo: characters beyond the first 65,536 come before the last of those."""
    return text.encode("utf-16-be", "surrogatepass")
