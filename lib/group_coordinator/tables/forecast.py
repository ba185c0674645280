"""When an offset will expire, as SQL sees it: the arithmetic of core.expiration over columns."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import Column
from pyspark.sql import functions as F

from group_coordinator.tables.instants import instant


@dataclass(frozen=True, slots=True)
class Forecast:
    """How long offsets are kept, and the grid on which they go."""

    retention_ms: int
    check_interval_ms: int

    def expires_at(self, now: Column) -> Column:
        """Over the columns of an offset and of its group's expiration rule; null while something protects it.

        What was overdue at `now`, a time at which the offset was there, goes with the first sweep after it.
        """
        protected = (F.col("expiration_base") == "never") | F.array_contains(
            F.col("protected_topics"), F.col("topic")
        )
        sweep_ms = F.greatest(
            self._first_sweep_at_or_after(self._due_ms()),
            self._first_sweep_at_or_after(F.unix_millis(now) + 1),
        )
        return F.when(~protected, instant(sweep_ms))

    def _due_ms(self) -> Column:
        aging_since = F.when(F.col("expiration_base") == "empty", F.col("empty_since")).otherwise(
            F.col("commit_timestamp")
        )
        return F.coalesce(
            F.unix_millis("expire_timestamp"), F.unix_millis(aging_since) + self.retention_ms
        )

    def _first_sweep_at_or_after(self, time_ms: Column) -> Column:
        return time_ms + F.pmod(-time_ms, F.lit(self.check_interval_ms))
