"""Milliseconds of Kafka as times that every reader of the tables can show. It imports nothing of Spark."""

from __future__ import annotations

FIRST_MS = -62_135_596_800_000
"""0001-01-01, the earliest of them."""
LAST_MS = 253_402_300_799_999
"""9999-12-31, the latest."""


def shown_ms(milliseconds: int) -> int:
    """The same instant, or the nearest that a calendar shows: a client may commit with any 64-bit timestamp."""
    return min(max(milliseconds, FIRST_MS), LAST_MS)


def shown_ms_or_none(milliseconds: int | None) -> int | None:
    """As shown_ms, where there may be no instant."""
    return None if milliseconds is None else shown_ms(milliseconds)
