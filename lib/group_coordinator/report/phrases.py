"""Texts of numbers, times and names on the page."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from unicodedata import is_normalized

NOTHING = "-"
"""Text without a value, as in Kafka's own tools."""

_ESCAPE = re.compile(r"\\(?:\\|x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})")
_CODES_OF_TWO_DIGITS = 0x100
_BLANKS = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""Letters, signs and marks in Unicode, printable in Python, that are invisible (Default_Ignorable_Code_Point, and a Braille cell)."""
_UNSEEN_SPACES = re.compile(r"^ +| +$|(?<= ) +")
_LETTERS = (
    *(("E", 10**18, 9_995 * 10**14), ("P", 10**15, 9_995 * 10**11), ("T", 10**12, 9_995 * 10**8)),
    ("G", 1_000_000_000, 999_500_000),
    ("M", 1_000_000, 999_500),
    ("k", 1_000, 10_000),
)
"""Letter, its size, and the lowest number with it: 999,500 would be 1e+03 thousands."""
_UNITS = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))


def name_text(name: str) -> str:
    """Escape a name that a client chose, so that different names look different on a page; nearly all names stay unchanged.

    Invisible characters, spaces at an end or next to a space, and letters that are not NFC become Python's escapes.
    A name that already contains the form of an escape has its backslashes doubled.
    """
    doubled = name.replace("\\", r"\\")
    # Two names that differ only in their normal form look the same.
    is_whole = is_normalized("NFC", name)
    visible = (
        each if is_seen(each) and (is_whole or each.isascii()) else _escape(each)
        for each in doubled
    )
    text = _UNSEEN_SPACES.sub(lambda spaces: spaces[0].replace(" ", r"\x20"), "".join(visible))
    return name if text == doubled and not _ESCAPE.search(name) else text


def is_seen(character: str) -> bool:
    return character.isprintable() and not _BLANKS.match(character)


def _escape(character: str) -> str:
    code = ord(character)
    # Not Python's \n and the like: in DOMAIN\name the backslash and the n are not a line break.
    return f"\\x{code:02x}" if code < _CODES_OF_TWO_DIGITS else ascii(character)[1:-1]


def count(number: int | None) -> str:
    return NOTHING if number is None else f"{number:,}"


def short_count(number: int | None) -> str:
    """Number in at most four digits: 1,234, 12.3k, 4.57M."""
    if number is None:
        return NOTHING
    for letter, size, begin in _LETTERS:
        if abs(number) >= begin:
            return f"{number / size:.3g}{letter}"
    return f"{number:,}"


def of_things(number: int, thing: str) -> str:
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


def rate(number: float) -> str:
    """Number a second, with three digits at most below 100."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"  # noqa: PLR2004


def duration(seconds: float | None) -> str:
    """Duration in the two greatest units: 2 h 5 min."""
    if seconds is None:
        return NOTHING
    left, words = round(seconds), list[str]()
    for unit, size in _UNITS:
        if left >= size and len(words) < 2:  # noqa: PLR2004
            words.append(f"{left // size} {unit}")
            left %= size
        elif words:
            break
    return " ".join(words) or "0 s"


def short_duration(seconds: float | None) -> str:
    """Duration in the greatest unit: 2 h."""
    return " ".join(duration(seconds).split(" ")[:2])


def time_text(at: datetime | None) -> str:
    """Time to the minute; the page states that times are UTC."""
    return NOTHING if at is None else at.replace(tzinfo=None).isoformat(" ", "minutes")


def time_left(until: datetime, now: datetime) -> str:
    left = until - now
    return "due" if left <= timedelta() else f"in {duration(left.total_seconds())}"
