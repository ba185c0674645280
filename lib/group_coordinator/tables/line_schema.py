"""The Spark schema of a line of JSON, from the Struct that writes it (runtime/outputs.py), and its timestamps."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, structs
from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, IntegerType, LongType, StringType, StructField, StructType

from group_coordinator.codecs.fields import Int32, Int64
from group_coordinator.tables.timestamps import FIRST_MS, LAST_MS


def instant(milliseconds: Column) -> Column:
    """Convert milliseconds to a timestamp, and null to null; a plain cast would fail the query."""
    shown = F.least(F.greatest(milliseconds, F.lit(FIRST_MS)), F.lit(LAST_MS))
    return F.when(milliseconds.isNotNull(), F.timestamp_millis(shown))


_NUMBERS: dict[Any, DataType] = {
    Int32: IntegerType(),
    Int32 | None: IntegerType(),
    Int64: LongType(),
    Int64 | None: LongType(),
}


def line_schema(row: type[Struct]) -> StructType:
    """Return the schema of a line: numbers by their size, and text for all else, even for an object inside the line."""
    return StructType(
        [
            StructField(field.encode_name, _NUMBERS.get(field.type, StringType()))
            for field in structs.fields(row)
        ]
    )
