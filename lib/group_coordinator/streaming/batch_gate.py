"""Gate that stops a query between two batches: the running batch ends, and the next batch does nothing.

`StreamingQuery.stop` alone interrupts the running batch, which the next start would repeat.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from threading import Event, Thread

from pyspark import SparkContext
from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

_POLL_S = 0.02
ASKS_FOR_OFFSETS = "Getting offsets from"
"""Prefix of Spark's status message while it fetches the end offsets of a batch."""
# A broker that is up responds within milliseconds.
_LONGEST_QUESTION_S = 1.0
_log = logging.getLogger(__name__)


class ClosedError(RuntimeError):
    """The batch was not written because its query stops. Spark repeats it at the next start."""


class BatchGate:
    """A foreachBatch function that can be closed.

    `must_wait` is called before each batch with Spark's number; if it returns True, the batch is held for another query.
    """

    def __init__(
        self,
        write: Callable[[DataFrame, int], None],
        must_wait: Callable[[int], bool] = lambda _batch_id: False,
    ) -> None:
        self._write = write
        self._must_wait = must_wait
        self._closing = Event()
        self._holds_batch = Event()
        self._stopped = Event()
        self.held_batch = -1
        """The batch, by Spark's number, of which nothing was written because the gate was closed; -1: none."""

    def __call__(self, batch: DataFrame, batch_id: int) -> None:
        """Write the batch, or, once closed, hold it until the query has stopped.

        Raises ClosedError: the gate is closed. After a return Spark would commit the batch.
        """
        if self._closing.is_set() or self._must_wait(batch_id):
            reason = "stop" if self._closing.is_set() else "another-query"
            _log.debug("spark_batch=%d held reason=%s", batch_id, reason)
            self.held_batch = batch_id
            self._holds_batch.set()
            # Waiting keeps Spark from planning a further batch until the query is stopped.
            self._stopped.wait()
            raise ClosedError(f"batch {batch_id} is left for the next start")
        self._write(batch, batch_id)

    @property
    def is_closing(self) -> bool:
        return self._closing.is_set()

    @property
    def is_shut(self) -> bool:
        """True if a batch waits for another query."""
        return self._holds_batch.is_set()

    def stop(self, query: StreamingQuery, context: SparkContext) -> None:
        """Let the running batch end, then stop the query, without waiting for a batch that has no offsets yet."""
        self._closing.set()
        self._await_batch(query)
        # Spark reports the held batch as a failure, at length, though it is not one.
        context.setLogLevel("OFF")
        # In a thread, as `stop` waits for the held batch, which waits for `_stopped`.
        stopping = Thread(target=query.stop, name="stop")
        stopping.start()
        # Only a query that is stopping does not fail by the held batch's error.
        while query.isActive:
            time.sleep(_POLL_S)
        self._stopped.set()
        stopping.join()
        context.setLogLevel("WARN")

    def _await_batch(self, query: StreamingQuery) -> None:
        with_offsets_s = time.monotonic()
        while query.isActive and query.status["isTriggerActive"]:
            if self._holds_batch.wait(_POLL_S):
                return
            if not query.status["message"].startswith(ASKS_FOR_OFFSETS):
                with_offsets_s = time.monotonic()
            # The batch has no offsets yet, so nothing is lost when it is interrupted.
            elif time.monotonic() - with_offsets_s > _LONGEST_QUESTION_S:
                _log.debug("query=%s interrupted: its batch has no offsets yet", query.name)
                return
