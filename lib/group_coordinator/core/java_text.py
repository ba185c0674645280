"""Lengths, orders, numbers and durations of texts, as in Java."""

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
"""The number of digits of the largest long."""
_SPACE = "".join(map(chr, range(0x21)))
_NUMBER = re.compile(r"([+-]?)0*(\d{1,40})")
"""40 digits are more than a long has; int() fails at a few thousand."""


def java_trimmed(text: str) -> str:
    """Return the text after Java's String.trim: control characters are removed too, other spaces of Unicode stay."""
    return text.strip(_SPACE)


def utf16_length(text: str) -> int:
    """Return the text's length in Java, where a character beyond U+FFFF counts as two."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def utf16_order(text: str) -> bytes:
    """Return a sort key in the order of String.compareTo, where characters beyond U+FFFF precede the last characters below."""
    return text.encode("utf-16-be", "surrogatepass")


def java_number(text: str) -> int | None:
    """Parse a number like Java's Long.parseLong, but without its range; None if the text is not a number.

    Java accepts a sign and the digits of any script, but no blanks, underscores or characters beyond U+FFFF.
    """
    match = _NUMBER.fullmatch(text)
    if match is None or max(text) > "\uffff":
        return None
    return int(match[1] + match[2])


def java_duration_ns(text: str) -> int | None:
    """Return the nanoseconds of a text for Java's Duration.parse; None if Java rejects the text or the time is too long."""
    match = _DURATION.fullmatch(text)
    parts = {} if match is None else {unit: match[unit] for unit in _UNITS_S if match[unit]}
    # Java requires at least one unit, and a unit after the T.
    if match is None or not parts or match["time"] in ("T", "t"):
        return None
    if any(len(part.lstrip("+-0")) > _DIGITS for part in parts.values()):
        return None
    seconds = [_integer(part) * _UNITS_S[unit] for unit, part in parts.items()]
    if not all(-_LONG <= part < _LONG for part in (*seconds, sum(seconds))):
        return None
    fraction_ns = int((match["fraction"] or "").ljust(9, "0"))
    # The sign of the seconds is also that of their fraction: "-0.5S" has no other.
    is_below_zero = (match["seconds"] or "").startswith("-")
    total_ns = sum(seconds) * 10**9 + (-fraction_ns if is_below_zero else fraction_ns)
    return -total_ns if match["sign"] == "-" else total_ns


def _integer(text: str) -> int:
    # int() fails at a few thousand digits, even if they are zeros.
    sign = -1 if text.startswith("-") else 1
    return sign * int(text.lstrip("+-0") or "0")
