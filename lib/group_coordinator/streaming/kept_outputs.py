"""What of a batch goes to a table line by line: dead letters, and denials. There is little of it, as a rule nothing."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from group_coordinator.settings import JobSettings
from group_coordinator.streaming.batch_outputs import LETTERS
from group_coordinator.streaming.operator.output_rows import DENIAL
from group_coordinator.tables import dead_letters, denials
from group_coordinator.tables.dead_letters import DEAD_LETTERS, dead_letter_row
from group_coordinator.tables.definition import TableDefinition
from group_coordinator.tables.denials import DENIALS, denial_row


class MakesRow(Protocol):
    """Makes a struct with a table's columns, except those of the batch, from a parsed line."""

    def __call__(self, row: Column, *, cluster_id: Column, source_topic: Column) -> Column:
        """The struct."""
        ...


class KeptOutputs(NamedTuple):
    """The outputs of some kinds, each a line of JSON, and the table that keeps them."""

    kinds: tuple[str, ...]
    table: TableDefinition
    line: StructType
    row: MakesRow


_LETTERS = KeptOutputs(LETTERS, DEAD_LETTERS, dead_letters.LINE, dead_letter_row)
_DENIALS = KeptOutputs((DENIAL,), DENIALS, denials.LINE, denial_row)

KEPT = (_LETTERS, _DENIALS)
"""In the order in which they are appended."""


def rows_of(batch: DataFrame, kept: KeptOutputs, job: JobSettings) -> DataFrame:
    """The rows that the outputs of some kinds are in their table, except the columns of the batch."""
    parsed = F.from_json(F.col("content").cast("string"), kept.line)
    row = kept.row(
        F.col("line"), cluster_id=F.lit(job.cluster_id), source_topic=F.lit(job.events_topic)
    )
    lines = batch.where(F.col("kind").isin(*kept.kinds)).select(parsed.alias("line"))
    return lines.select(row.alias("row")).select("row.*")
