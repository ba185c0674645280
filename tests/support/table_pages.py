"""The tables and views as the pages of jobs/reference describe them, from their definitions.

    python -m tests.support.table_pages [--write]

It prints the Markdown; with --write it replaces the text between the markers of each page.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from textwrap import fill

from group_coordinator.tables.creation import TABLES
from group_coordinator.tables.definition import TableDefinition
from group_coordinator.tables.views.all_views import VIEWS
from group_coordinator.tables.views.definition import ViewDefinition
from group_coordinator.tables.views.lag import LAG_NOW

REFERENCE = Path(__file__).parents[2] / "jobs" / "reference"
BEGIN = "<!-- written by `python -m tests.support.table_pages --write` -->"
END = "<!-- end of the written part -->"
_FIRST_ABOUT_LAG = VIEWS.index(LAG_NOW)


def generated() -> dict[str, str]:
    """Return Markdown by page: the columns of tables and views, and an example for each view."""
    return {
        "tables.md": "\n\n".join(map(_table, TABLES)),
        "views.md": "\n\n".join(map(_view, VIEWS[:_FIRST_ABOUT_LAG])),
        "lag.md": "\n\n".join(map(_view, VIEWS[_FIRST_ABOUT_LAG:])),
    }


def _table(table: TableDefinition) -> str:
    columns = [
        (column.name, column.dataType.simpleString(), column.nullable, column.metadata["comment"])
        for column in table.schema
    ]
    return "\n".join(
        [f"## `{table.name}`", "", fill(f"{table.meaning}.", 158), "", *_columns(columns)],
    )


def _view(view: ViewDefinition) -> str:
    columns = [
        (column.name, column.type, column.nullable, column.meaning) for column in view.columns
    ]
    example = view.example.replace(" FROM ", "\nFROM ").replace(" WHERE ", "\nWHERE ")
    example = example.replace(" ORDER BY ", "\nORDER BY ")
    return "\n".join(
        [
            f"## `{view.name}`",
            "",
            fill(f"{view.meaning}. {view.answers}", 158),
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


def replaced(page: str, begin: str, end: str, content: str) -> str:
    """Return the page with this content between two of its lines."""
    before, _, rest = page.partition(begin)
    _, _, after = rest.partition(end)
    return f"{before}{begin}\n\n{content}\n\n{end}{after}"


if __name__ == "__main__":
    for name, content in generated().items():
        if sys.argv[1:] == ["--write"]:
            page = (REFERENCE / name).read_text(encoding="utf-8")
            (REFERENCE / name).write_text(replaced(page, BEGIN, END, content), encoding="utf-8")
        else:
            sys.stdout.write(f"{content}\n\n")
