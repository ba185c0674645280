"""Texts as Java sees them."""

from __future__ import annotations

import re

_LONG = 1 << 63
_DURATION = re.compile(
    r"(?P<sign>[-+]?)P(?:(?P<days>[-+]?\d+)D)?"
    r"(?P<time>T(?:(?P<hours>[-+]?\d+)H)?(?:(?P<minutes>[-+]?\d+)M)?"
    r"(?:(?P<seconds>[-+]?\d+)(?:[.,](?P<fraction>\d{0,9}))?S)?)?",
    re.ASCII | re.IGNORECASE,
)
_UNITS_S = {"days": 86_400, "hours": 3_600, "minutes": 60, "seconds": 1}
_DIGITS = 19
"""Of the largest long."""
_SPACE = "".join(map(chr, range(0x21)))
_NUMBER = re.compile(r"([+-]?)0*(\d{1,40})")
"""40 digits are more than a long has; int() fails at a few thousand."""


def java_trimmed(text: str) -> str:
    """The text as Java's String.trim leaves it: control characters go too, other spaces of Unicode stay."""
    return text.strip(_SPACE)


def utf16_length(text: str) -> int:
    """The text's length in Java: a character beyond the first 65,536 counts as two."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def utf16_order(text: str) -> bytes:
    """A key to sort by as String.compareTo: characters beyond the first 65,536 come before the last of those."""
    return text.encode("utf-16-be", "surrogatepass")


def java_number(text: str) -> int | None:
    """Parse a number as Java's Long.parseLong does, but without its range; None if the text is not a number.

    Java accepts a sign and the digits of any script, but no blanks, underscores or characters beyond U+FFFF.
    """
    match = _NUMBER.fullmatch(text)
    if match is None or max(text) > "\uffff":
        return None
    return int(match[1] + match[2])


def java_duration_ns(text: str) -> int | None:
    """Nanoseconds of what Java's Duration.parse takes; None: it takes no such text, or finds the time too long."""
    match = _DURATION.fullmatch(text)
    parts = {} if match is None else {unit: match[unit] for unit in _UNITS_S if match[unit]}
    if match is None or not parts or match["time"] in ("T", "t"):
        return None
    if any(len(part.lstrip("+-0")) > _DIGITS for part in parts.values()):
        return None
    seconds = [_integer(part) * _UNITS_S[unit] for unit, part in parts.items()]
    if not all(-_LONG <= part < _LONG for part in (*seconds, sum(seconds))):
        return None
    fraction_ns = int((match["fraction"] or "").ljust(9, "0"))
    is_below_zero = (match["seconds"] or "").startswith("-")
    total_ns = sum(seconds) * 10**9 + (-fraction_ns if is_below_zero else fraction_ns)
    return -total_ns if match["sign"] == "-" else total_ns


def _integer(text: str) -> int:
    """As int, also of more zeros than that takes."""
    sign = -1 if text.startswith("-") else 1
    return sign * int(text.lstrip("+-0") or "0")
