"""The mirror's streaming query: until it is stopped, or until it has read all present records."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Event
from typing import NamedTuple

from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from group_coordinator.mirror.sinks import MirrorSinks
from group_coordinator.mirror.source import READING, MessageSource
from group_coordinator.settings import JobSettings
from group_coordinator.streaming.batch_gate import BatchGate
from group_coordinator.streaming.checkpoint.folder import CheckpointFolder
from group_coordinator.streaming.checkpoint.layout import checkpoint_of
from group_coordinator.streaming.checkpoint.ownership import Claimant
from group_coordinator.streaming.pools import in_pool
from group_coordinator.tables.session_conf import session_conf

QUERY_NAME = "mirror"
_ANOTHER_NAME = "mirror the cluster under another name, by --cluster"
MIRROR = Claimant(
    QUERY_NAME,
    _ANOTHER_NAME,
    "",
    f"Restore the newest copy of the checkpoint, or {_ANOTHER_NAME}",
    f"none of them is from the present topic. Restore the checkpoint, or {_ANOTHER_NAME}",
)
"""The checkpoint of a mirror as owner of its cluster's rows."""
_POLL_S = 1
_log = logging.getLogger(__name__)


class TopicChangedError(RuntimeError):
    """The topic has changed since the query started: the query must be started again."""


class Reading(NamedTuple):
    """The way the topic is read: source and start offsets, and if the query continues after lost records."""

    source: MessageSource
    is_lossy: bool
    topic_id: str
    first_batch_id: int
    """Number of Spark's batch 0 in the tables."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MirrorRun:
    """A run of the mirror; `stop` ends it early, between two batches, and each of `watches` receives the query meanwhile.

    A run may take several queries: `take_up` returns how the next query reads the topic. A watch ends a query by
    TopicChangedError; after a failed query `may_go_on` decides if another follows.
    """

    spark: SparkSession
    job: JobSettings
    take_up: Callable[[], Reading]
    may_go_on: Callable[[StreamingQueryException], bool]
    sinks: MirrorSinks
    stop: Event
    watches: Sequence[Callable[[StreamingQuery], None]] = ()

    def run(self) -> None:
        trigger = {"processingTime": f"{self.job.mirror_interval_ms} milliseconds"}
        while self._must_begin_again(trigger):
            pass

    def drain(self) -> None:
        """Mirror all records that are readable now, up to the first open transaction, and return."""
        while self._must_begin_again({"availableNow": True}):
            pass

    def _must_begin_again(self, trigger: Mapping[str, object]) -> bool:
        try:
            self._until_over(trigger)
        except TopicChangedError as change:
            _log.debug("query=%s again: reason=%s", QUERY_NAME, change)
            return True
        except StreamingQueryException as failure:
            # Kafka's source fails for lost records, which a mirror survives by a gap repair.
            if self.may_go_on(failure):
                _log.debug("query=%s again: reason=topic-changed", QUERY_NAME)
                return True
            raise
        return False

    def _until_over(self, trigger: Mapping[str, object]) -> None:
        reading = self.take_up()
        # A topic that was created again begins with batch 0 of Spark, and the tables continue.
        sinks = replace(
            self.sinks, first_batch_id=reading.first_batch_id, topic_id=reading.topic_id
        )
        # A gate for each query, as a gate stays closed.
        gate = BatchGate(sinks.write)
        query = self._start(reading, gate, trigger)
        try:
            while not self.stop.is_set() and not query.awaitTermination(_POLL_S):
                for watch in self.watches:
                    watch(query)
        finally:
            gate.stop(query, self.spark.sparkContext)

    def _start(
        self, reading: Reading, gate: BatchGate, trigger: Mapping[str, object]
    ) -> StreamingQuery:
        most = self.job.mirror_max_offsets_per_trigger
        folder = CheckpointFolder(self.spark, checkpoint_of(self.job, QUERY_NAME))
        # A query copies the session's settings at its start.
        with in_pool(self.spark, QUERY_NAME), session_conf(self.spark, READING):
            rows = reading.source.stream(self.spark, most, is_lossy=reading.is_lossy)
            writer = (
                rows.writeStream.queryName(QUERY_NAME)
                .foreachBatch(gate)
                .option("checkpointLocation", folder.address_in_full)
            )
            return writer.trigger(**trigger).start()  # type: ignore[call-overload,no-any-return]
