"""Which committed offsets count: brokers take any number, and keep an offset that the log does not reach any more."""

from __future__ import annotations

_SURELY_LATER = "INTERVAL '10' SECOND"
"""SQL for how long after a commit a sample is later for certain: brokers stamp commits, samplers samples, halfway through a round."""


def is_offset(number: str) -> str:
    """SQL for whether a committed number is an offset to go on from.

    kafkajs resets to -1 and -2; a client that fetches such a number takes it for none, and goes by auto.offset.reset.
    """
    return f"{number} >= 0"


def offset_or_null(number: str) -> str:
    """SQL for a committed number; null: it is no offset."""
    return f"CASE WHEN {is_offset(number)} THEN {number} END"


def is_ahead(offset: str, committed_at: str, end: str, sampled_at: str) -> str:
    """SQL for whether a log ends before an offset that was committed: it was cut, or its topic was made again.

    A sample that is not later than the commit says nothing: the log has grown since.
    """
    return f"({offset} > {end} AND {committed_at} < {sampled_at} - {_SURELY_LATER})"
