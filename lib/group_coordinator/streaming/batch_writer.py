"""The life of a batch, and the writer of its outputs: responses, then records, then dead letters and denials.

Spark can repeat a batch, and has no transaction over Kafka and several tables. So the outputs of a repeat are equal, and each
output may come twice or has a mark by which it is skipped.

1. Spark plans the batch: the end offsets and the time go to the offset log. From here on it is an open batch.
2. The driver adds the rest of its input: outages, ACLs, suspended timers (coordinator_query.py).
3. The operator handles the events, and writes the group states. It is a pure function of all that, so a repeat gives the same.
4. Responses go to Kafka first, of a small batch at the time of steps 5 and 6. A repeat has the same `id`s, and readers drop them.
5. Topic subscriptions and awaited transaction markers are kept, as other members wait for them and a group reports them once.
6. Records go to coordinator_log, then dead letters and denials to their tables: if any table has rows of a batch, the log has its
   records, and a rebuild starts from the last batch that it finds. Each append leaves a mark, by which the table takes a batch once
   (tables/writer.py): a failure between two tables repeats only the second append.
7. Spark commits the batch and its group states after `Sinks.write` returns. After a failure before that, the next start repeats
   steps 2 to 6 with the same events, time and id.

Workers return rows in their final form (operator/output_rows.py). A call from Python into the JVM takes milliseconds, so the
outputs of a batch are built in SQL with as few calls as possible.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.settings import RECORD_OVERHEAD, JobSettings
from group_coordinator.streaming.cluster_options import cluster_options
from group_coordinator.streaming.operator.output_rows import DENIAL, RESPONSE
from group_coordinator.streaming.small_batch import (
    LETTERS,
    BatchCounts,
    BatchMeters,
    BatchOutputs,
    SmallBatches,
    collected_small_batch,
    outputs_of,
)
from group_coordinator.tables.append import SparkRows
from group_coordinator.tables.coordinator_log import COORDINATOR_LOG
from group_coordinator.tables.definition import TableDefinition
from group_coordinator.tables.failed_events import (
    DEAD_LETTER_LINE,
    DEAD_LETTERS,
    DENIAL_LINE,
    DENIALS,
    dead_letter_row,
    denial_row,
)
from group_coordinator.tables.log_rows import LogOrigin
from group_coordinator.tables.writer import Writer

_log = logging.getLogger(__name__)


class MakesRow(Protocol):
    """Builder of a struct with a table's columns, except those of the batch, from a parsed line."""

    def __call__(self, row: Column, *, cluster_id: Column, source_topic: Column) -> Column: ...


class KeptOutputs(NamedTuple):
    """Outputs of some kinds, each a line of JSON, and their table."""

    kinds: tuple[str, ...]
    table: TableDefinition
    line: StructType
    row: MakesRow


_LETTERS = KeptOutputs(LETTERS, DEAD_LETTERS, DEAD_LETTER_LINE, dead_letter_row)
_DENIALS = KeptOutputs((DENIAL,), DENIALS, DENIAL_LINE, denial_row)

KEPT = (_LETTERS, _DENIALS)
"""The order in which they are appended."""


def rows_of(batch: DataFrame, kept: KeptOutputs, job: JobSettings) -> DataFrame:
    """Return the table rows of some kinds of outputs, without the columns of the batch."""
    # Parsed by the JVM: a Python worker per table would cost more than these few rows.
    parsed = F.from_json(F.col("content").cast("string"), kept.line)
    row = kept.row(
        F.col("line"), cluster_id=F.lit(job.cluster_id), source_topic=F.lit(job.events_topic)
    )
    lines = batch.where(F.col("kind").isin(*kept.kinds)).select(parsed.alias("line"))
    return lines.select(row.alias("row")).select("row.*")


def responses_of(batch: DataFrame, most_bytes: int, partitions: int) -> DataFrame:
    """Return the rows for the responses topic: key, value and partition; null in `partition` selects the key's partition.

    A response of more than `most_bytes` is replaced by the error MESSAGE_TOO_LARGE to the same request.
    """
    return (
        batch.where(f"kind = '{RESPONSE}'")
        .selectExpr(
            "key",
            # Kafka's client waits in vain for a partition that does not exist.
            f"if(partition < {partitions}, partition, null) AS partition",
            r"explode(split(string(content), '\n')) AS response",
        )
        .selectExpr("key", "partition", _WITHIN.format(most_bytes=most_bytes))
    )


_KEPT = {
    "id": "string",
    "correlationId": "string",
    "api": "string",
    "version": "int",
    "groupId": "string",
    "at": "bigint",
}
"""Fields, and their types, that remain of a response that is too long."""
_WITHIN = (
    "if(octet_length(response) <= {most_bytes}, response, to_json(named_struct("
    + ", ".join(
        f"'{name}', cast(get_json_object(response, '$.{name}') AS {kind})"
        for name, kind in _KEPT.items()
    )
    + f", 'body', named_struct('errorCode', {int(ErrorCode.MESSAGE_TOO_LARGE)}, 'errorMessage', "
    "format_string('the response has %d bytes: more than response.max.bytes = {most_bytes}', "
    "octet_length(response)))))) AS value"
)


def send(responses: DataFrame, job: JobSettings) -> None:
    """Write key, value and partition of each row to the responses topic."""
    (
        responses.write.format("kafka")
        .options(
            **{
                **cluster_options(job),
                "kafka.acks": "all",
                # Responses of a batch come together, so a short wait joins them into few requests.
                "kafka.linger.ms": "5",
                "kafka.max.request.size": str(job.response_max_bytes + RECORD_OVERHEAD),
                # Every client can read this codec without another library.
                "kafka.compression.type": "gzip",
                "kafka.compression.gzip.level": "1",
                "topic": job.responses_topic,
            }
        )
        .save()
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Sinks:
    """Writes the outputs of a batch, which may be written again. In the tables Spark's batch 0 is `first_batch_id` (see Origin)."""

    job: JobSettings
    writer: Writer
    report: Callable[[int, BatchCounts], None]
    first_batch_id: int = 0
    topic_subscriptions: Callable[[Sequence[str]], None] | None = None
    """Receives the topic subscriptions of groups, each a line of JSON, before the commit: a group sends them once."""
    awaited_markers: Callable[[Sequence[str]], None] | None = None
    """Receives the transaction markers that groups wait for, in the same way."""
    reply_partitions: Callable[[], int] = lambda: 0
    """Returns the number of partitions of the responses topic: Kafka's client waits in vain for a missing partition."""
    states_read: Callable[[], None] | None = None
    """Called before the commit if gateways get states of groups with the batch."""
    meters: Callable[[int, BatchMeters], None] | None = None
    """Receives the batch's metrics after its tables are written. A repeated batch is reported again."""
    small_batches: SmallBatches | None = None
    """Writer of small batches; None: every batch is written by Spark."""
    before_outputs: Callable[[], None] = lambda: None
    """Called before the first output of a batch leaves the driver or its tasks; a batch without outputs may call it too."""

    def write(self, batch: DataFrame, batch_id: int) -> BatchCounts:
        """Send the responses and append the rows that earlier attempts of this batch did not append; return the counts."""
        in_tables = self.first_batch_id + batch_id
        # The collected batch is a shortcut: if it is too large, the same batch is written by Spark.
        found = self._written_as_small_batch(batch, batch_id) or self._written(batch, in_tables)
        # After the tables: a crash before this line is made up from their rows (meter_totals.py).
        if self.meters is not None:
            self.meters(in_tables, found.meters())
        counts = found.counts
        _log.debug("batch=%d outputs=%s", in_tables, counts)
        self.report(in_tables, counts)
        return counts

    def _written_as_small_batch(self, batch: DataFrame, batch_id: int) -> BatchOutputs | None:
        in_tables = self.first_batch_id + batch_id
        if self.small_batches is None or not self.small_batches.has_few_events(batch_id):
            _log.debug("batch=%d path=spark reason=many-events", in_tables)
            return None
        taken = collected_small_batch(batch, self.job.response_max_bytes)
        if taken is None:
            _log.debug("batch=%d path=spark reason=large-outputs", in_tables)
            return None
        _log.debug("batch=%d path=small-batch", in_tables)
        if any(taken.outputs.counts):
            self.before_outputs()
        with self.small_batches.responses.writing(taken.responses):
            self._keep(taken.outputs, in_tables)
        return taken.outputs

    def _written(self, batch: DataFrame, in_tables: int) -> BatchOutputs:
        # Without the cache every use of the batch would run the operator again. The first use reads all of it, or the
        # groups that it leaves out would lose their state. What is too much for memory goes to disk.
        batch.persist(StorageLevel.MEMORY_AND_DISK)
        try:
            self.before_outputs()
            # Clients wait for the responses, and for nothing else.
            partitions = self.reply_partitions()
            send(responses_of(batch, self.job.response_max_bytes, partitions), self.job)
            found = outputs_of(batch)
            self._keep(found, in_tables)
        finally:
            batch.unpersist()
        return found

    def _keep(self, found: BatchOutputs, in_tables: int) -> None:
        # Before the commit: a group sends its subscriptions once, so a crash after the commit would lose them.
        self._report(found)
        # The log first: a rebuild relies on it having every batch that another table has.
        if found.counts.records:
            origin = LogOrigin(self.job.cluster_id, self.job.events_topic)
            self.writer.append_once(found.log(origin), COORDINATOR_LOG, in_tables)
        for kept in KEPT:
            # Most batches have no dead letters or denials, and an empty append would still be a commit.
            size = found.size_of(kept.kinds)
            if size.rows:
                rows = SparkRows(rows_of(found.frame(), kept, self.job), size)
                self.writer.append_once(rows, kept.table, in_tables)

    def _report(self, found: BatchOutputs) -> None:
        needs, markers = found.topic_subscriptions(), found.awaited_markers()
        if needs and self.topic_subscriptions is not None:
            self.topic_subscriptions(needs)
        if markers and self.awaited_markers is not None:
            self.awaited_markers(markers)
        if self.states_read is not None and found.have_states_read():
            self.states_read()
