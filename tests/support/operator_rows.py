"""What came out of the operator, one output after the other, as lines_of has the outputs of a call."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Raw, json
from pyspark.sql import Row

from group_coordinator.streaming.operator.output_rows import METERS
from group_coordinator.tables.log_rows import unpacked


def lines_in(rows: Iterable[Row]) -> list[str]:
    """Each a letter for its kind and JSON; between them the partition that a client reads.

    What is counted of them is left out.
    """
    return [line for row in rows if row.kind != METERS for line in _lines(row)]


def _lines(row: Row) -> list[str]:
    content = bytes(row.content)
    if row.kind == "R":
        number = "" if row.partition is None else str(row.partition)
        lines = [f"R{number}{value}" for value in content.decode().split("\n")]
    elif row.kind == "L":
        lines = [_log_line(found) for batch in unpacked(content) for found in batch.to_pylist()]
    else:
        lines = [row.kind[0] + content.decode()]
    assert row["count"] == len(lines)
    return lines


def _log_line(row: dict[str, object]) -> str:
    texts = {
        name: None if row[name] is None else Raw(str(row[name]).encode())
        for name in ("key", "value")
    }
    return "L" + json.encode(row | texts).decode()
