"""The end of a run that was told to stop while Kafka does not answer: whatever waits for Kafka is left as it is.

Such a wait may be anywhere: in a task's consumer or the driver's Admin client, which are Java's, or in a thread of Python. None of them
hears a signal, and some wait for minutes. A kill is no worse for the checkpoint and the tables than it is at any other time: an open
batch is done again.
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
"""A run has so long at least to end by itself: Java's clients give up a question after 10 s."""
_STATUS = 1
_log = logging.getLogger(__name__)


@contextmanager
def ended_if_kafka_is_silent(
    connection: Connection, stop: Event, hush: Callable[[], None] = lambda: None
) -> Iterator[None]:
    """End this process if `stop` is set, the block does not end, and Kafka does not answer.

    Args:
        connection: asked again and again once `stop` is set.
        stop: the wish to end.
        hush: called before the end, which others would report at length.
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
                    "the run ends in the middle of what it does, as Kafka does not answer: %s",
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
    """Why Kafka does not answer; None: it does."""
    try:
        with connection.opened(KafkaAdminClient):
            return None
    except BrokerUnreachableError as failure:
        return str(failure)
