"""Looks into the tables again and again, in a thread of its own, while somebody else writes them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread

from group_coordinator.clients.errors import ClientError
from group_coordinator.clients.sql_tables import TablesUnavailableError

_INTERVAL_S = 2.0
_log = logging.getLogger(__name__)


@contextmanager
def looking(look: Callable[[], None], every_s: float = _INTERVAL_S) -> Iterator[None]:
    """Look every few seconds while the block runs; a look that fails is logged, and not the last one."""
    over = Event()
    thread = Thread(target=_run, args=(look, every_s, over), name="tables", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _run(look: Callable[[], None], every_s: float, over: Event) -> None:
    while not over.wait(every_s):
        try:
            look()
        except TablesUnavailableError:
            continue  # not made yet
        except ClientError:
            _log.warning("a look into the tables failed", exc_info=True)
