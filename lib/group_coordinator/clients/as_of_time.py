"""Time of a time travel query on the tables."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from group_coordinator.core.model.config import CoordinatorConfig

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def time_from(text: str) -> datetime:
    """Parse a time of ISO 8601 to UTC, as all times in the tables are; without a zone it is UTC. Raises ValueError: the text is none."""
    try:
        found = datetime.fromisoformat(text)
        # A time without a zone has the tables' zone.
        return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    except (OverflowError, ValueError) as error:
        raise ValueError(
            f"{text!r} is not a time: give one such as 2024-01-02T03:04:05Z or 2024-01-02 03:04 (UTC)"
        ) from error


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
