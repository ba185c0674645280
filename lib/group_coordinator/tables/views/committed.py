"""SQL for committed offsets that are valid: brokers accept any number, and keep an offset beyond the end of the log."""

from __future__ import annotations

SURELY_LATER_SECONDS = 10
"""The least time from a commit to a sample that is certainly later: brokers stamp commits, samplers their own rounds."""


def is_offset(number: str) -> str:
    """SQL for whether a committed number is a valid offset.

    kafkajs commits -1 and -2 in resets. A client that fetches such a number ignores it and uses auto.offset.reset.
    """
    return f"{number} >= 0"


def offset_or_null(number: str) -> str:
    """SQL for a committed number; null if it is not a valid offset."""
    return f"CASE WHEN {is_offset(number)} THEN {number} END"


def is_ahead(offset: str, committed_at: str, end: str, sampled_at: str) -> str:
    """SQL for whether a log ends before a committed offset: the log was cut, or its topic was created again.

    A sample that is not later than the commit proves nothing: the log may have grown since.
    """
    return f"({offset} > {end} AND {committed_at} < {sampled_at} - INTERVAL '{SURELY_LATER_SECONDS}' SECOND)"
