"""Milliseconds of Kafka as timestamps of SQL."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

FIRST_MS = -62_135_596_800_000
"""0001-01-01, the earliest instant that every reader of the tables can show."""
LAST_MS = 253_402_300_799_999
"""9999-12-31."""


def instant(milliseconds: Column) -> Column:
    """The instant; one that no calendar shows becomes the nearest that does.

    A client may commit with any 64-bit timestamp; as a plain cast it would end the query.
    """
    shown = F.least(F.greatest(milliseconds, F.lit(FIRST_MS)), F.lit(LAST_MS))
    return F.when(milliseconds.isNotNull(), F.timestamp_millis(shown))


def instant_or_null(milliseconds: Column) -> Column:
    """The same where -1 stands for absent, as on Kafka's wire."""
    return F.when(milliseconds != -1, instant(milliseconds))
