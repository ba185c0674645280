"""Numbers in texts that a user gave, as far as Kafka has room for them."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"[0-9]{1,100}")
"""Zeros before it included: Python refuses to read a few thousand digits."""

LAST_INT32 = 2**31 - 1
LAST_INT64 = 2**63 - 1


def whole_number(text: str, most: int) -> int | None:
    """The number from 0 to `most` that the text says; None: it says none."""
    if not _NUMBER.fullmatch(text):
        return None
    number = int(text)
    return number if number <= most else None
