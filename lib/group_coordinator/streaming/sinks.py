"""Where a batch goes: responses to Kafka first, somebody waits for them; then the log and the dead letters to Delta."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from group_coordinator.settings import JobSettings
from group_coordinator.streaming.output_lines import DEAD_LETTER, LOG, RESPONSE
from group_coordinator.tables import coordinator_log, dead_letters
from group_coordinator.tables.append import append_once
from group_coordinator.tables.catalog import TableCatalog

_DEFECT = '%"reason":"defect: %'
"""A dead letter with our own mistake as the reason, see update_group.py."""


class BatchCounts(NamedTuple):
    """How many lines of each kind a batch has."""

    responses: int
    records: int
    dead_letters: int
    defects: int


@dataclass(frozen=True, slots=True)
class Sinks:
    """Writes the operator's output lines; may be called again with the same batch."""

    job: JobSettings
    catalog: TableCatalog
    report: Callable[[int, BatchCounts], None]

    def write(self, batch: DataFrame, batch_id: int) -> None:
        """Send the responses, then append to the tables what a redone batch has not appended before."""
        # Every use of the batch would run the operator again; an unfinished use would lose state (spark.md 5.1).
        lines = _tagged_lines(batch).persist()
        try:
            counts = _count(lines)
            if counts.responses:
                self._send(_of(lines, RESPONSE))
            if counts.records:
                self._append_records(_of(lines, LOG), batch_id, counts.records)
            if counts.dead_letters:
                self._append_dead_letters(_of(lines, DEAD_LETTER), batch_id, counts.dead_letters)
            self.report(batch_id, counts)
        finally:
            lines.unpersist()

    def _send(self, responses: DataFrame) -> None:
        group_id = F.get_json_object("line", "$.groupId")
        (
            responses.select(group_id.alias("key"), F.col("line").alias("value"))
            .write.format("kafka")
            .option("kafka.bootstrap.servers", self.job.bootstrap_servers)
            .option("kafka.acks", "all")
            .option("kafka.linger.ms", "5")
            .option("kafka.compression.type", "lz4")
            .option("topic", self.job.responses_topic)
            .save()
        )

    def _append_records(self, lines: DataFrame, batch_id: int, count: int) -> None:
        rows = coordinator_log.from_lines(
            lines,
            cluster_id=self.job.cluster_id,
            source_topic=self.job.events_topic,
            batch_id=batch_id,
        )
        table = coordinator_log.COORDINATOR_LOG.name
        append_once(rows, count, self.catalog, table, batch_id)

    def _append_dead_letters(self, lines: DataFrame, batch_id: int, count: int) -> None:
        rows = dead_letters.from_lines(
            lines,
            cluster_id=self.job.cluster_id,
            source_topic=self.job.events_topic,
            batch_id=batch_id,
        )
        append_once(rows, count, self.catalog, dead_letters.DEAD_LETTERS.name, batch_id)


def _tagged_lines(batch: DataFrame) -> DataFrame:
    line = F.explode(F.split("lines", "\n")).alias("line")
    return batch.select(line).select(
        F.substring("line", 1, 1).alias("tag"), F.expr("substring(line, 2)").alias("line")
    )


def _of(lines: DataFrame, tag: str) -> DataFrame:
    return lines.where(F.col("tag") == tag).select("line")


def _count(lines: DataFrame) -> BatchCounts:
    is_dead_letter = F.col("tag") == DEAD_LETTER
    row = lines.agg(
        F.count_if(F.col("tag") == RESPONSE),
        F.count_if(F.col("tag") == LOG),
        F.count_if(is_dead_letter),
        F.count_if(is_dead_letter & F.col("line").like(_DEFECT)),
    ).first()
    return BatchCounts(*(row or (0, 0, 0, 0)))
