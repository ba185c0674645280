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

All that can be prepared is in the plan of the streaming query (`outputs`): what `Sinks.write` builds, it builds for
every batch, and a call from Python into the JVM takes milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.runtime.output_lines import (
    AWAITED_MARKERS,
    DEAD_LETTER,
    LOG,
    RESPONSE,
    TOPIC_NEED,
)
from group_coordinator.settings import RECORD_OVERHEAD, JobSettings
from group_coordinator.streaming.cluster_options import cluster_options
from group_coordinator.tables import coordinator_log, dead_letters
from group_coordinator.tables.append import Size
from group_coordinator.tables.coordinator_log import COORDINATOR_LOG, log_row
from group_coordinator.tables.dead_letters import DEAD_LETTERS, dead_letter_row
from group_coordinator.tables.definition import TableDefinition
from group_coordinator.tables.writer import Writer

_BEFORE_JSON = f"{RESPONSE}{LOG}{DEAD_LETTER}{TOPIC_NEED}{AWAITED_MARKERS}0123456789"
"""The characters of a line's kind and of a response's partition, which stand before its JSON."""
_DEFECT = "D!"
"""The kind of a dead letter whose reason is a mistake of ours, see runtime/update_group.py."""


class BatchCounts(NamedTuple):
    """How many outputs of each kind a batch has; defects are dead letters too."""

    responses: int = 0
    records: int = 0
    dead_letters: int = 0
    defects: int = 0


def outputs(calls: DataFrame, job: JobSettings) -> DataFrame:
    """One row an output, with its kind; only the column of that kind is filled."""
    origin = {"cluster_id": F.lit(job.cluster_id), "source_topic": F.lit(job.events_topic)}
    line = F.col("line")
    return (
        calls.select(F.explode(F.split("lines", "\n")).alias("text"))
        # Spark's `substring` counts all characters of a text, and a cast that is tried, and fails, takes longer than all the rest.
        .select(
            F.expr("char(ascii(text))").alias("tag"),
            F.expr(f"trim(LEADING '{_BEFORE_JSON}' FROM text)").alias("line"),
            "text",
        )
        .select(
            "tag",
            "line",
            F.expr(
                "if(octet_length(text) - octet_length(line) = 1, null,"
                " int(substring(text, 2, octet_length(text) - octet_length(line) - 1)))"
            ).alias("partition"),
        )
        # A select of its own: otherwise Spark would parse a line again for every field.
        .select(
            "tag",
            "line",
            "partition",
            F.from_json(_of(LOG, line), coordinator_log.LINE).alias("log"),
            F.from_json(_of(DEAD_LETTER, line), dead_letters.LINE).alias("letter"),
        )
        .select(
            _kind().alias("kind"),
            F.octet_length(line).alias("bytes"),
            _of(RESPONSE, F.get_json_object(line, "$.groupId")).alias("key"),
            _of(RESPONSE, _within(job.response_max_bytes, line)).alias("value"),
            "partition",
            _of(LOG, log_row(F.col("log"), **origin)).alias("record"),
            _of(DEAD_LETTER, dead_letter_row(F.col("letter"), **origin)).alias("dead_letter"),
            _of(TOPIC_NEED, line).alias("topic_need"),
            _of(AWAITED_MARKERS, line).alias("awaited_markers"),
        )
    )


def _kind() -> Column:
    is_defect = (F.col("tag") == DEAD_LETTER) & F.col("line").contains('"reason":"defect: ')
    return F.when(is_defect, _DEFECT).otherwise(F.col("tag"))


def _within(most_bytes: int, response: Column) -> Column:
    """A response; if Kafka would not take it, the error MESSAGE_TOO_LARGE to the same request in its place."""
    names = {"id": "string", "correlationId": "string", "api": "string", "version": "int"}
    names |= {"groupId": "string", "at": "bigint"}
    size = F.octet_length(response)
    error = F.struct(
        F.lit(int(ErrorCode.MESSAGE_TOO_LARGE)).alias("errorCode"),
        F.format_string(
            f"the response has %d bytes: more than response.max.bytes = {most_bytes}", size
        ).alias("errorMessage"),
    )
    fields = (
        F.get_json_object(response, f"$.{name}").cast(to).alias(name) for name, to in names.items()
    )
    too_large = F.to_json(F.struct(*fields, error.alias("body")))
    return F.when(size > most_bytes, too_large).otherwise(response)


def _existing(partitions: int) -> Column:
    """The partition that a client named; null, which means the one of the key, if there is no such partition."""
    return F.when(F.col("partition") < partitions, F.col("partition"))


def _of(tag: str, value: Column) -> Column:
    return F.when(F.col("tag") == tag, value)


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
        # groups that it leaves out would lose their state. On disk, as a batch may have gigabytes; a small one stays in
        # the operating system's memory.
        batch.persist(StorageLevel.DISK_ONLY)
        in_tables = self.first_batch_id + batch_id
        try:
            # Clients wait for it, and for nothing else.
            self._send(batch)
            volume = _volume(batch)
            counts = volume.counts
            if volume.topic_needs and self.topic_needs is not None:
                self.topic_needs(_texts_in(batch, "topic_need"))
            if volume.awaited_markers and self.awaited_markers is not None:
                self.awaited_markers(_texts_in(batch, "awaited_markers"))
            if counts.records:
                size = Size(counts.records, volume.record_bytes)
                self._append(batch, "record", COORDINATOR_LOG, in_tables, size)
            if counts.dead_letters:
                size = Size(counts.dead_letters, volume.dead_letter_bytes)
                self._append(batch, "dead_letter", DEAD_LETTERS, in_tables, size)
            self.report(in_tables, counts)
        finally:
            batch.unpersist()
        return counts

    def _send(self, batch: DataFrame) -> None:
        (
            batch.where("value IS NOT NULL")
            .select("key", "value", _existing(self.reply_partitions()).alias("partition"))
            .write.format("kafka")
            .options(
                **{
                    **cluster_options(self.job),
                    "kafka.acks": "all",
                    "kafka.linger.ms": "5",
                    "kafka.max.request.size": str(self.job.response_max_bytes + RECORD_OVERHEAD),
                    # Every client can read this codec without another library.
                    "kafka.compression.type": "gzip",
                    "kafka.compression.gzip.level": "1",
                    "topic": self.job.responses_topic,
                }
            )
            .save()
        )

    def _append(
        self, batch: DataFrame, column: str, table: TableDefinition, batch_id: int, size: Size
    ) -> None:
        rows = batch.where(f"{column} IS NOT NULL").select(f"{column}.*")
        self.writer.append_once(rows, size, table, batch_id)


def _texts_in(batch: DataFrame, column: str) -> list[str]:
    said = batch.where(f"{column} IS NOT NULL").select(column)
    return [row[0] for row in said.toLocalIterator()]


class _Volume(NamedTuple):
    """How much of a batch goes to the tables."""

    counts: BatchCounts
    record_bytes: int
    dead_letter_bytes: int
    topic_needs: int
    awaited_markers: int


_IS_LETTER = f"kind IN ('{DEAD_LETTER}', '{_DEFECT}')"
_VOLUME = (
    f"count_if(kind = '{RESPONSE}') AS responses",
    f"count_if(kind = '{LOG}') AS records",
    f"count_if({_IS_LETTER}) AS dead_letters",
    f"count_if(kind = '{_DEFECT}') AS defects",
    f"coalesce(sum(if(kind = '{LOG}', bytes, 0)), 0) AS record_bytes",
    f"coalesce(sum(if({_IS_LETTER}, bytes, 0)), 0) AS dead_letter_bytes",
    f"count_if(kind = '{TOPIC_NEED}') AS topic_needs",
    f"count_if(kind = '{AWAITED_MARKERS}') AS awaited_markers",
)


def _volume(batch: DataFrame) -> _Volume:
    """Spark adds it up: the lines of a batch may be more than the driver has memory for."""
    [row] = batch.selectExpr(*_VOLUME).collect()
    counts = BatchCounts(row.responses, row.records, row.dead_letters, row.defects)
    return _Volume(
        counts, row.record_bytes, row.dead_letter_bytes, row.topic_needs, row.awaited_markers
    )
