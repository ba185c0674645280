"""Where a batch goes: responses to Kafka, then records to coordinator_log, then dead letters to their table.

The order has reasons. Responses go first because clients wait for them. What groups need to know of topics comes right
behind them, as nobody else waits for so little (job/topic_interests.py), and which markers they wait for (job/awaited_markers.py). The log goes before the dead letters, so that a
table that has anything of a batch means that the log has its records: a rebuild starts from the last batch that it finds
(rebuild/rebuild.py).

Spark commits a batch after `Sinks.write` returns. If anything fails before that, the batch is done again at the next
start, with the same id, the same events and the same time, so the operator gives the same outputs. Responses are then
sent again, equal and with the same `id`, by which readers drop repeats: at least once. A table takes a batch once, by the
mark that each append leaves in it (tables/writer.py). A failure between two tables therefore repeats only the second.
Spark's checkpoint commits the groups' states with the batch.

What a worker hands over is what the sinks write (operator/output_rows.py): nothing here parses a response or a row of the
log. A call from Python into the JVM takes milliseconds, so what is built for every batch is SQL in as few calls as possible.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pyspark import StorageLevel
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.settings import RECORD_OVERHEAD, JobSettings
from group_coordinator.streaming.cluster_options import cluster_options
from group_coordinator.streaming.operator.output_rows import (
    AWAITED_MARKERS,
    DEAD_LETTER,
    DEFECT,
    LOG,
    RESPONSE,
    TOPIC_NEED,
)
from group_coordinator.tables import dead_letters
from group_coordinator.tables.append import Rows, Size, SparkRows
from group_coordinator.tables.coordinator_log import COORDINATOR_LOG
from group_coordinator.tables.dead_letters import DEAD_LETTERS, dead_letter_row
from group_coordinator.tables.definition import TableDefinition
from group_coordinator.tables.log_rows import LogOrigin, PackedRows
from group_coordinator.tables.writer import Writer

_IS_LETTER = f"kind IN ('{DEAD_LETTER}', '{DEFECT}')"


class BatchCounts(NamedTuple):
    """How many outputs of each kind a batch has; defects are dead letters too."""

    responses: int = 0
    records: int = 0
    dead_letters: int = 0
    defects: int = 0


def responses_of(batch: DataFrame, most_bytes: int, partitions: int) -> DataFrame:
    """What goes to the responses topic, which has so many partitions: null in `partition` means the one of the key.

    In the place of a response that Kafka would not take is the error MESSAGE_TOO_LARGE to the same request.
    """
    return (
        batch.where(f"kind = '{RESPONSE}'")
        .selectExpr(
            "key",
            # Kafka's client waits in vain for a partition that is not there.
            f"if(partition < {partitions}, partition, null) AS partition",
            r"explode(split(string(content), '\n')) AS response",
        )
        .selectExpr("key", "partition", _WITHIN.format(most_bytes=most_bytes))
    )


_FIELDS = {"id": "string", "correlationId": "string", "api": "string", "version": "int"} | {
    "groupId": "string",
    "at": "bigint",
}
_WITHIN = (
    "if(octet_length(response) <= {most_bytes}, response, to_json(named_struct("
    + ", ".join(
        f"'{name}', cast(get_json_object(response, '$.{name}') AS {kind})"
        for name, kind in _FIELDS.items()
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


def letters_of(batch: DataFrame, job: JobSettings) -> DataFrame:
    """The rows of dead_letters, except the columns of the batch."""
    parsed = F.from_json(F.col("content").cast("string"), dead_letters.LINE)
    row = dead_letter_row(
        F.col("letter"),
        cluster_id=F.lit(job.cluster_id),
        source_topic=F.lit(job.events_topic),
    )
    letters = batch.where(_IS_LETTER).select(parsed.alias("letter"))
    return letters.select(row.alias("row")).select("row.*")


def _nobody_names_one() -> int:
    return 0


@dataclass(frozen=True, slots=True)
class Sinks:
    """Writes the outputs of a batch; may be called with the same batch again.

    In the tables Spark's batch 0 is batch `first_batch_id`, see checkpoint.Origin.
    """

    job: JobSettings
    writer: Writer
    report: Callable[[int, BatchCounts], None]
    first_batch_id: int = 0
    topic_needs: Callable[[Sequence[str]], None] | None = None
    """Hears which topics groups must know, each a line of JSON, before the batch is committed: a group says it once."""
    awaited_markers: Callable[[Sequence[str]], None] | None = None
    """Hears which markers groups wait for, in the same way."""
    reply_partitions: Callable[[], int] = _nobody_names_one
    """How many partitions the responses topic has: Kafka's client waits in vain for one that is not there."""

    def write(self, batch: DataFrame, batch_id: int) -> BatchCounts:
        """Send the responses, then append to the tables what this batch has not appended before; how much there was."""
        # Without the cache every use of the batch would run the operator again. The first use reads all of it, or the
        # groups that it leaves out would lose their state. What is too much for memory goes to disk.
        batch.persist(StorageLevel.MEMORY_AND_DISK)
        in_tables = self.first_batch_id + batch_id
        try:
            # Clients wait for it, and for nothing else.
            send(
                responses_of(batch, self.job.response_max_bytes, self.reply_partitions()), self.job
            )
            volume = _volume(batch)
            if volume.topic_needs and self.topic_needs is not None:
                self.topic_needs(_contents(batch, TOPIC_NEED))
            if volume.awaited_markers and self.awaited_markers is not None:
                self.awaited_markers(_contents(batch, AWAITED_MARKERS))
            if volume.counts.records:
                self._append(self._log(batch, volume), COORDINATOR_LOG, in_tables)
            if volume.counts.dead_letters:
                letters = SparkRows(letters_of(batch, self.job), volume.letters)
                self._append(letters, DEAD_LETTERS, in_tables)
            self.report(in_tables, volume.counts)
        finally:
            batch.unpersist()
        return volume.counts

    def _send(self, batch: DataFrame) -> None:
        partitions = self.reply_partitions()
        send(responses_of(batch, self.job.response_max_bytes, partitions), self.job)

    def _append(self, rows: Rows, table: TableDefinition, batch_id: int) -> None:
        self.writer.append_once(rows, table, batch_id)

    def _log(self, batch: DataFrame, volume: _Volume) -> PackedRows:
        origin = LogOrigin(self.job.cluster_id, self.job.events_topic)
        packed = batch.where(f"kind = '{LOG}'").select("content")
        return PackedRows(packed, volume.packed_bytes, origin)


def _contents(batch: DataFrame, kind: str) -> list[str]:
    said = batch.where(f"kind = '{kind}'").selectExpr("string(content)")
    return [row[0] for row in said.toLocalIterator()]


class _Volume(NamedTuple):
    """How much of a batch goes to the tables."""

    counts: BatchCounts
    packed_bytes: int
    letters: Size
    topic_needs: int
    awaited_markers: int


_VOLUME = (
    f"sum(if(kind = '{RESPONSE}', count, 0)) AS responses",
    f"sum(if(kind = '{LOG}', count, 0)) AS records",
    f"count_if({_IS_LETTER}) AS dead_letters",
    f"count_if(kind = '{DEFECT}') AS defects",
    f"sum(if(kind = '{LOG}', octet_length(content), 0)) AS packed_bytes",
    f"sum(if({_IS_LETTER}, octet_length(content), 0)) AS letter_bytes",
    f"count_if(kind = '{TOPIC_NEED}') AS topic_needs",
    f"count_if(kind = '{AWAITED_MARKERS}') AS awaited_markers",
)


def _volume(batch: DataFrame) -> _Volume:
    """Spark adds it up: the outputs of a batch may be more than the driver has memory for."""
    [row] = batch.selectExpr(*_VOLUME).collect()
    letters = row.dead_letters
    counts = BatchCounts(row.responses or 0, row.records or 0, letters, row.defects)
    return _Volume(
        counts,
        row.packed_bytes or 0,
        Size(letters, row.letter_bytes or 0),
        row.topic_needs,
        row.awaited_markers,
    )
