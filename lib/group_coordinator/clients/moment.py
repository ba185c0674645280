"""A time in the past, as a question to the tables names it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from group_coordinator.core.model.config import CoordinatorConfig

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Moment(NamedTuple):
    """A time with its zone, and the settings that forecasts were made with."""

    at: datetime
    config: CoordinatorConfig

    @property
    def in_ms(self) -> int:
        """The time in milliseconds, as the coordinator counts it."""
        return (self.at - _EPOCH) // timedelta(milliseconds=1)

    def has_seen(self, column: str) -> str:
        """SQL of DataFusion for whether a time of a table had come by then."""
        return f"{column} <= to_timestamp_micros({(self.at - _EPOCH) // timedelta(microseconds=1)})"
