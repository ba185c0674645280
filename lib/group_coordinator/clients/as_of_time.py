"""Time of a time travel query on the tables."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from group_coordinator.core.model.config import CoordinatorConfig

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class AsOfTime(NamedTuple):
    """Time with its zone, and the settings of forecasts."""

    at: datetime
    config: CoordinatorConfig
    of_groups: str = "true"
    """Condition in DataFusion's SQL on cluster_id and group_id: the state tables have only these groups, and are computed sooner."""

    @property
    def in_ms(self) -> int:
        """Time in milliseconds, as the coordinator counts it."""
        return (self.at - _EPOCH) // timedelta(milliseconds=1)

    def has_seen(self, column: str) -> str:
        """Condition in DataFusion's SQL: a time of a table is not after this time."""
        return f"{column} <= to_timestamp_micros({(self.at - _EPOCH) // timedelta(microseconds=1)})"
