"""Milliseconds of Kafka as timestamps of SQL."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

FIRST_MS = -62_135_596_800_000
"""0001-01-01, the earliest instant that every reader of the tables can show."""
LAST_MS = 253_402_300_799_999
"""9999-12-31."""


def shown_ms(milliseconds: int) -> int:
    """The same instant, or the nearest that a calendar shows: a client may commit with any 64-bit timestamp."""
    return min(max(milliseconds, FIRST_MS), LAST_MS)


def shown_ms_or_none(milliseconds: int | None) -> int | None:
    """As shown_ms, where there may be no instant."""
    return None if milliseconds is None else shown_ms(milliseconds)


def instant(milliseconds: Column) -> Column:
    """The same in SQL, as a timestamp; a plain cast would end the query."""
    shown = F.least(F.greatest(milliseconds, F.lit(FIRST_MS)), F.lit(LAST_MS))
    return F.when(milliseconds.isNotNull(), F.timestamp_millis(shown))
