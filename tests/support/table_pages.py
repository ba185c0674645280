"""The tables and views as jobs/README.md describes them, from their definitions.

    python -m tests.support.table_pages [--write]

It prints the Markdown; with --write it replaces what is between the markers of the page.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from group_coordinator.tables.creation import TABLES
from group_coordinator.tables.definition import TableDefinition
from group_coordinator.tables.views.all_views import VIEWS
from group_coordinator.tables.views.definition import ViewDefinition

PAGE = Path(__file__).parents[2] / "jobs" / "README.md"
BEGIN = "<!-- tables: written by `python -m tests.support.table_pages --write` -->"
END = "<!-- end of tables -->"
BEGIN_VIEWS = "<!-- views: written by `python -m tests.support.table_pages --write` -->"
END_VIEWS = "<!-- end of views -->"


def table_pages() -> str:
    """Markdown: every table with its columns."""
    return "\n\n".join(map(_table, TABLES))


def view_pages() -> str:
    """Markdown: every view with its columns and an example."""
    return "\n\n".join(map(_view, VIEWS))


def _table(table: TableDefinition) -> str:
    columns = [
        (column.name, column.dataType.simpleString(), column.nullable, column.metadata["comment"])
        for column in table.schema
    ]
    return "\n".join(
        [f"### `{table.name}`", "", f"{table.meaning}.", "", *_columns(columns)],
    )


def _view(view: ViewDefinition) -> str:
    columns = [
        (column.name, column.type, column.nullable, column.meaning) for column in view.columns
    ]
    example = view.example.replace(" FROM ", "\nFROM ").replace(" WHERE ", "\nWHERE ")
    example = example.replace(" ORDER BY ", "\nORDER BY ")
    return "\n".join(
        [
            f"### `{view.name}`",
            "",
            f"{view.meaning}. {view.answers}",
            "",
            *("```sql", f"{example};", "```", ""),
            *_columns(columns),
        ]
    )


def _columns(columns: Iterable[tuple[str, str, bool, str]]) -> list[str]:
    return [
        "| column | type | null | meaning |",
        "|---|---|---|---|",
        *(
            f"| `{name}` | `{kind}` | {'yes' if nullable else ''} | {meaning.replace('|', chr(92) + '|')} |"
            for name, kind, nullable, meaning in columns
        ),
    ]


def with_table_pages(page: str) -> str:
    """The page with the tables and views of now between their markers."""
    with_tables = replaced(page, BEGIN, END, table_pages())
    return replaced(with_tables, BEGIN_VIEWS, END_VIEWS, view_pages())


def replaced(page: str, begin: str, end: str, content: str) -> str:
    """The page with this content between two of its lines."""
    before, _, rest = page.partition(begin)
    _, _, after = rest.partition(end)
    return f"{before}{begin}\n\n{content}\n\n{end}{after}"


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(with_table_pages(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    else:
        sys.stdout.write(table_pages() + "\n\n" + view_pages() + "\n")
