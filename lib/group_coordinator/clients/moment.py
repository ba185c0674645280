"""A time in the past, as a question to the tables names it."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from group_coordinator.core.model.config import CoordinatorConfig


class Moment(NamedTuple):
    """A time with its zone, and the settings that forecasts were made with."""

    at: datetime
    config: CoordinatorConfig
