"""The tables as jobs/README.md describes them, from their definitions.

    python -m tests.support.table_pages [--write]

It prints the Markdown; with --write it replaces what is between the two markers of the page.
"""

from __future__ import annotations

import sys
from pathlib import Path

from pyspark.sql.types import StructField

from group_coordinator.tables.creation import TABLES
from group_coordinator.tables.definition import TableDefinition

PAGE = Path(__file__).parents[2] / "jobs" / "README.md"
BEGIN = "<!-- tables: written by `python -m tests.support.table_pages --write` -->"
END = "<!-- end of tables -->"


def table_pages() -> str:
    """Markdown: every table with its columns."""
    return "\n\n".join(map(_table, TABLES))


def _table(table: TableDefinition) -> str:
    return "\n".join(
        [
            f"### `{table.name}`",
            "",
            f"{table.meaning}.",
            "",
            "| column | type | null | meaning |",
            "|---|---|---|---|",
            *map(_column, table.schema),
        ]
    )


def _column(column: StructField) -> str:
    kind = column.dataType.simpleString()
    meaning = column.metadata["comment"].replace("|", r"\|")
    return f"| `{column.name}` | `{kind}` | {'yes' if column.nullable else ''} | {meaning} |"


def with_table_pages(page: str) -> str:
    """The page with the tables of now between its markers."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{table_pages()}\n\n{END}{after}"


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(with_table_pages(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    else:
        sys.stdout.write(table_pages() + "\n")
