"""Rows of a table as Arrow data and back; instants are timestamps there and milliseconds here."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa
from msgspec import to_builtins

from group_coordinator.tables.compaction.rows import Row


def to_arrow(rows: Iterable[Row], wanted: pa.Schema) -> pa.Table:
    """Arrow data with the columns of a table."""
    milliseconds = pa.schema(
        [_as(field, pa.int64()) if _is_instant(field) else field for field in wanted]
    )
    between = pa.schema(
        [_as(field, pa.timestamp("ms", "UTC")) if _is_instant(field) else field for field in wanted]
    )
    return pa.Table.from_pylist(to_builtins(list(rows)), milliseconds).cast(between).cast(wanted)


def from_arrow(table: pa.Table) -> list[dict[str, Any]]:
    """Rows of Arrow data by column name."""
    between = pa.schema(
        [
            _as(field, pa.timestamp("ms", "UTC")) if _is_instant(field) else field
            for field in table.schema
        ]
    )
    milliseconds = pa.schema(
        [_as(field, pa.int64()) if _is_instant(field) else field for field in between]
    )
    rows: list[dict[str, Any]] = table.cast(between, safe=False).cast(milliseconds).to_pylist()
    return rows


def _is_instant(field: pa.Field) -> bool:
    return bool(pa.types.is_timestamp(field.type))


def _as(field: pa.Field, kind: pa.DataType) -> pa.Field:
    return field.with_type(kind)
