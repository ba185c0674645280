"""The conversion of `instants` as a Spark column."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from group_coordinator.tables.instants import FIRST_MS, LAST_MS


def instant(milliseconds: Column) -> Column:
    """Convert milliseconds to a timestamp, and null to null; a plain cast would fail the query."""
    shown = F.least(F.greatest(milliseconds, F.lit(FIRST_MS)), F.lit(LAST_MS))
    return F.when(milliseconds.isNotNull(), F.timestamp_millis(shown))
