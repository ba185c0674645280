"""Progress of a mirror in its log: records read, speed, lag, and open transactions that delay it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

from pyspark.sql.streaming.query import StreamingQuery

from group_coordinator.clients.cluster.long_waits import AGAIN_S, FIRST_S
from group_coordinator.clients.cluster.positions import Sample
from group_coordinator.mirror.sinks import MirroredBatch
from group_coordinator.streaming.batch_gate import ASKS_FOR_OFFSETS

_INTERVAL_S = 15.0
_log = logging.getLogger(__name__)


class MirrorProgress:
    """Receives batches and samples, and logs a line now and then.

    Args:
        topic: the topic that is mirrored.
        now_ms: this machine's wall clock.
        clock: seconds that never go back.
    """

    def __init__(self, topic: str, now_ms: Callable[[], int], clock: Callable[[], float]) -> None:
        self._topic = topic
        self._now_ms = now_ms
        self._clock = clock
        self._since_s = clock()
        self._records = 0
        self._behind_s: float | None = None
        self._held: list[str] = []
        self._report_question_s = clock() + FIRST_S

    def batch_done(self, batch_id: int, found: MirroredBatch) -> None:
        """Note a batch that is in the tables."""
        self._records += found.records + found.dead_letters
        if found.newest_ms is not None:
            # The brokers' clock may be ahead of this machine's.
            self._behind_s = max(0.0, (self._now_ms() - found.newest_ms) / 1000)
        if found.dead_letters:
            _log.warning(
                "batch %d: %d messages could not be decoded: see the table dead_letters",
                batch_id,
                found.dead_letters,
            )

    def sampled(self, sample: Sample) -> None:
        """Note the ends of the topics: records between the last stable offset and the log end are not readable yet."""
        held = [
            f"partition {position.partition}: "
            f"{position.log_end_offset - position.last_stable_offset} records wait for the end of a transaction"
            for position in sample.positions
            if position.topic == self._topic
            and position.last_stable_offset < position.log_end_offset
        ]
        # Once per change, as samples come every few seconds.
        if held and held != self._held:
            _log.info("%s", "; ".join(held))
        self._held = held

    def look(self, query: StreamingQuery) -> None:
        """Log progress if it is due."""
        self._look_at_question(query.status)
        if self._clock() - self._since_s >= _INTERVAL_S:
            self.report()

    def _look_at_question(self, status: Mapping[str, object]) -> None:
        """Log that Spark waits for the end offsets: until the brokers respond, there is no batch."""
        asks = str(status["message"]).startswith(ASKS_FOR_OFFSETS)
        if not (status["isTriggerActive"] and asks):
            self._report_question_s = self._clock() + FIRST_S
        elif self._clock() >= self._report_question_s:
            self._report_question_s = self._clock() + AGAIN_S
            _log.warning(
                "waiting for the end offsets of topic %s, which Kafka does not return; SIGTERM or Ctrl-C ends the wait",
                self._topic,
            )

    def report(self) -> None:
        """Log the records since the last line, if there are any."""
        passed_s, self._since_s = self._clock() - self._since_s, self._clock()
        # An idle cluster must not fill the log.
        if self._records:
            _log.info(
                "%s: %d records, %d records/s, %.1f s behind",
                self._topic,
                self._records,
                self._records / max(passed_s, 1e-3),
                self._behind_s or 0.0,
            )
        self._records = 0
