"""The Spark schema of a line of JSON, from the Struct that writes it (runtime/outputs.py)."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, structs
from pyspark.sql.types import (
    DataType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from group_coordinator.codecs.fields import Int32, Int64

_NUMBERS: dict[Any, DataType] = {
    Int32: IntegerType(),
    Int32 | None: IntegerType(),
    Int64: LongType(),
    Int64 | None: LongType(),
}


def line_schema(row: type[Struct]) -> StructType:
    """Numbers by their size; all else is text, an object inside the line too."""
    return StructType(
        [
            StructField(field.encode_name, _NUMBERS.get(field.type, StringType()))
            for field in structs.fields(row)
        ]
    )
