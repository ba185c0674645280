"""The mirror's streaming query: until it is stopped, or until it has read what was there."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from threading import Event

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from group_coordinator.mirror.sinks import MirrorSinks
from group_coordinator.mirror.source import READING, decode, read_messages
from group_coordinator.settings import JobSettings
from group_coordinator.streaming.batch_gate import BatchGate
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
    f"Bring back the checkpoint as it was last, or {_ANOTHER_NAME}",
    f"bring back the checkpoint, or {_ANOTHER_NAME}",
)
"""The checkpoint of a mirror as a writer of its cluster's rows."""
_POLL_S = 1


@dataclass(frozen=True, slots=True)
class MirrorRun:
    """One run of the mirror; `stop` ends it early, between two batches, and each of `watches` sees the query meanwhile.

    `cluster` has Spark's options for address and login, `partitions` are those of the topic, which is the job's
    `events_topic`.
    """

    spark: SparkSession
    job: JobSettings
    cluster: Mapping[str, str]
    partitions: Collection[int]
    sinks: MirrorSinks
    stop: Event
    watches: Sequence[Callable[[StreamingQuery], None]] = ()

    def run(self) -> None:
        """Mirror until `stop` is set."""
        self._until_over({"processingTime": f"{self.job.mirror_interval_ms} milliseconds"})

    def drain(self) -> None:
        """Mirror what is readable now, which ends before the first open transaction, and return."""
        self._until_over({"availableNow": True})

    def _until_over(self, trigger: Mapping[str, object]) -> None:
        gate = BatchGate(self.sinks.write)
        query = self._start(gate, trigger)
        try:
            while not self.stop.is_set() and not query.awaitTermination(_POLL_S):
                for watch in self.watches:
                    watch(query)
        finally:
            gate.stop(query, self.spark.sparkContext)

    def _start(self, gate: BatchGate, trigger: Mapping[str, object]) -> StreamingQuery:
        most = self.job.mirror_max_offsets_per_trigger
        topic = self.job.events_topic
        # A query keeps the settings that its session had when it started.
        with in_pool(self.spark, QUERY_NAME), session_conf(self.spark, READING):
            messages = read_messages(self.spark, self.cluster, topic, self.partitions, most)
            writer = (
                decode(messages)
                .writeStream.queryName(QUERY_NAME)
                .foreachBatch(gate)
                .option("checkpointLocation", checkpoint_of(self.job, QUERY_NAME))
            )
            return writer.trigger(**trigger).start()  # type: ignore[call-overload,no-any-return]
