"""Ends a run that was told to stop while Kafka does not respond, without waiting for pending calls to Kafka.

Such a call may be in a Java client of a task or of the driver, or in a thread of Python. None of these notices a signal, and
some wait for minutes. Checkpoint and tables survive the kill, as at any other time: an open batch runs again.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread

from kafka import KafkaAdminClient

from group_coordinator.clients.channel_errors import BrokerUnreachableError
from group_coordinator.clients.cluster.connection import Connection

_LOOK_S = 1.0
_ORDERLY_S = 13.0
"""The time that a run has to end by itself: Java's clients give up a request after 10 s."""
_STATUS = 1
_log = logging.getLogger(__name__)


@contextmanager
def ended_if_kafka_is_silent(
    connection: Connection, stop: Event, hush: Callable[[], None] = lambda: None
) -> Iterator[None]:
    """End this process if `stop` is set, the block does not end, and Kafka does not respond.

    Args:
        connection: tried repeatedly once `stop` is set.
        stop: set when the run is to end.
        hush: called before the end, to silence the errors of other threads.
    """
    ended = Event()

    def watch() -> None:
        while not stop.wait(_LOOK_S):
            if ended.is_set():
                return
        told_s = time.monotonic()
        while not ended.wait(_LOOK_S):
            silence = _silence(connection)
            left_s = max(0.0, told_s + _ORDERLY_S - time.monotonic())
            if silence is not None and not ended.wait(left_s):
                hush()
                _log.error(
                    "the run was told to stop, and ends without waiting for Kafka, which does not respond: %s",
                    silence,
                )
                logging.shutdown()
                os._exit(_STATUS)

    Thread(target=watch, name="silent Kafka", daemon=True).start()
    try:
        yield
    finally:
        ended.set()


def _silence(connection: Connection) -> str | None:
    """Return why Kafka does not respond; None if it does."""
    try:
        with connection.opened(KafkaAdminClient):
            return None
    except BrokerUnreachableError as failure:
        return str(failure)
