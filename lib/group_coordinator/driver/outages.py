"""Outages of the brokers: the job waits for their end, and a run that is stopped meanwhile ends without waiting.

A waiting call of Java or Python may take minutes and notices no signal. Checkpoint and tables survive a kill: an open batch runs
again.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread

from kafka import KafkaAdminClient
from pyspark.errors import StreamingQueryException

from group_coordinator.background import keep_trying, repeat
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.errors import BrokerUnreachableError, ChannelError
from group_coordinator.driver.error_causes import outage

_PAUSE_S = 5
_log = logging.getLogger(__name__)


def outlast_outages(run: Callable[[], None], stop: Event) -> None:
    """Run, and run again after each end because of an outage; `stop` ends the wait too."""
    # Kafka's clients wait for a minute or more before they give up. The checkpoint has the open batch, which is repeated.
    keep_trying(
        run,
        stop,
        pause_s=_PAUSE_S,
        passes=lambda failure: _outage_in(failure) is not None,
        say=lambda failure, _: _log.warning(
            "the job waits for Kafka, and continues when it responds: %s", _outage_in(failure)
        ),
    )


def look_again_and_again(
    look: Callable[[], None], stop: Event, interval_s: float, said: str, log: logging.Logger
) -> None:
    """Look until `stop` is set; while no broker responds (ChannelError), log once that looks go on, and retry.

    `said` is the beginning of the warning, such as "topics are looked at".
    """

    def failed(failure: Exception, count: int) -> None:
        if not isinstance(failure, ChannelError):
            raise failure
        if count == 1:
            log.warning("%s again when Kafka responds: %s", said, failure)

    repeat(look, stop, interval_s, failed=failed)


def _outage_in(failure: BaseException) -> str | None:
    match failure:
        case BrokerUnreachableError():
            return str(failure)
        case StreamingQueryException():
            return outage(str(failure))
        case _:
            return None


_LOOK_S = 1.0
# The time for an orderly end: Java's clients give up a request after 10 s.
_ORDERLY_S = 13.0
_STATUS = 1


@contextmanager
def ended_if_kafka_is_silent(
    connection: Connection, stop: Event, hush: Callable[[], None] = lambda: None
) -> Iterator[None]:
    """End this process if `stop` is set, the block does not end, and Kafka does not respond; `hush` silences other threads."""
    ended = Event()

    def watch() -> None:
        while not stop.wait(_LOOK_S):
            if ended.is_set():
                return
        stopped_s = time.monotonic()
        while not ended.wait(_LOOK_S):
            silence = _silence(connection)
            # Kafka may recover, or the run may end by itself, in this time.
            left_s = max(0.0, stopped_s + _ORDERLY_S - time.monotonic())
            if silence is not None and not ended.wait(left_s):
                hush()
                _log.error(
                    "the run is to stop, and ends without waiting for Kafka, which does not respond: %s",
                    silence,
                )
                logging.shutdown()
                # sys.exit would end only this thread, and the main thread is blocked in a client.
                os._exit(_STATUS)

    Thread(target=watch, name="silent Kafka", daemon=True).start()
    try:
        yield
    finally:
        ended.set()


def _silence(connection: Connection) -> str | None:
    try:
        with connection.opened(KafkaAdminClient):
            return None
    except BrokerUnreachableError as failure:
        return str(failure)
