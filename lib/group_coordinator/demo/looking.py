"""Background task that reads the tables repeatedly while other processes write them."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial

from group_coordinator.background import Background, repeat
from group_coordinator.clients.errors import ClientError
from group_coordinator.clients.sql_tables import TablesUnavailableError

_INTERVAL_S = 2.0
_log = logging.getLogger(__name__)


def looking(look: Callable[[], None], every_s: float = _INTERVAL_S) -> Background:
    """Look every few seconds while the block runs; a failed look is logged, and the next look retries."""
    return Background(partial(repeat, look, interval_s=every_s, failed=_failed), "tables")


def _failed(failure: Exception, _count: int) -> None:
    if not isinstance(failure, ClientError):
        raise failure
    # The tables are not created yet.
    if not isinstance(failure, TablesUnavailableError):
        _log.warning("a look into the tables failed", exc_info=True)
