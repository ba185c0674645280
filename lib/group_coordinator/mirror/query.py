"""The mirror's streaming query: until it is stopped, or until it has read what was there."""

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
from group_coordinator.streaming.checkpoint.layout import checkpoint_of
from group_coordinator.streaming.checkpoint.ownership import Claimant
from group_coordinator.streaming.checkpoint.plans import offsets_read
from group_coordinator.streaming.pools import in_pool
from group_coordinator.tables.session_conf import session_conf

QUERY_NAME = "mirror"
_ANOTHER_NAME = "mirror the cluster under another name, by --cluster"
MIRROR = Claimant(
    QUERY_NAME,
    _ANOTHER_NAME,
    "",
    f"Bring back the checkpoint as it was last, or {_ANOTHER_NAME}",
    f"none of them is of the topic that is there now. Bring back the checkpoint, or {_ANOTHER_NAME}",
)
"""The checkpoint of a mirror as a writer of its cluster's rows."""
_POLL_S = 1
_ATTEMPTS = 5
_log = logging.getLogger(__name__)


class UnreadError(RuntimeError):
    """Spark's source does not find records that the brokers say are there."""


class TopicChangedError(RuntimeError):
    """The topic is not what it was when the query started: it must be started again."""


class Reading(NamedTuple):
    """How the topic is read: from where the checkpoint says, whether it goes on if records are gone unread."""

    source: MessageSource
    is_lossy: bool
    topic_id: str
    first_batch_id: int
    """In the tables, of Spark's batch 0."""


@dataclass(frozen=True, slots=True)
class MirrorRun:
    """One run of the mirror; `stop` ends it early, between two batches, and each of `watches` sees the query meanwhile.

    A run may take several queries: `take_up` says how the topic is read by the next one. A watch ends one by
    TopicChangedError; of one that fails `may_go_on` says whether another one is to follow.
    """

    spark: SparkSession
    job: JobSettings
    take_up: Callable[[], Reading]
    may_go_on: Callable[[StreamingQueryException], bool]
    sinks: MirrorSinks
    stop: Event
    watches: Sequence[Callable[[StreamingQuery], None]] = ()

    def run(self) -> None:
        """Mirror until `stop` is set."""
        trigger = {"processingTime": f"{self.job.mirror_interval_ms} milliseconds"}
        while self._must_begin_again(trigger):
            pass

    def drain(self, ends: Mapping[int, int]) -> None:
        """Mirror what is readable now, which ends before the first open transaction, and return.

        Args:
            ends: how far that is at least, by partition. Spark asks a consumer, which was once seen to say that there is
                nothing.

        Raises:
            UnreadError: there is still something that the query does not find.
        """
        unread: list[int] = []
        for _ in range(_ATTEMPTS):
            while self._must_begin_again({"availableNow": True}):
                pass
            unread = self._unread(ends)
            if not unread or self.stop.is_set():
                return
            _log.warning("unread in partitions %s: looking again", unread)
        raise UnreadError(
            f"topic {self.job.events_topic} has records in partitions {unread} that Spark did not find in {_ATTEMPTS} attempts"
        )

    def _unread(self, ends: Mapping[int, int]) -> list[int]:
        folder = MIRROR.folder(self.spark, self.job)
        read = offsets_read(folder, self.job.events_topic)
        return [partition for partition, end in ends.items() if read.get(partition, 0) < end]

    def _must_begin_again(self, trigger: Mapping[str, object]) -> bool:
        try:
            self._until_over(trigger)
        except TopicChangedError:
            return True
        except StreamingQueryException as failure:
            if self.may_go_on(failure):
                return True
            raise
        return False

    def _until_over(self, trigger: Mapping[str, object]) -> None:
        reading = self.take_up()
        sinks = replace(
            self.sinks, first_batch_id=reading.first_batch_id, topic_id=reading.topic_id
        )
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
        # A query keeps the settings that its session had when it started.
        with in_pool(self.spark, QUERY_NAME), session_conf(self.spark, READING):
            rows = reading.source.stream(self.spark, most, is_lossy=reading.is_lossy)
            writer = (
                rows.writeStream.queryName(QUERY_NAME)
                .foreachBatch(gate)
                .option("checkpointLocation", checkpoint_of(self.job, QUERY_NAME))
            )
            return writer.trigger(**trigger).start()  # type: ignore[call-overload,no-any-return]
