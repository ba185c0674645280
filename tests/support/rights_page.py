"""The table of rights in deploy/security/rights.md, from its definition.

    python -m tests.support.rights_page [--write]

It prints the Markdown; with --write it replaces what is between the markers of the page.
"""

from __future__ import annotations

import sys
from pathlib import Path

from group_coordinator.driver.checks.rights import (
    EVENTS,
    ITS_GROUPS,
    ITS_TOPICS,
    RESPONSES,
    RIGHTS,
    NeededRight,
)
from tests.support.table_pages import replaced

PAGE = Path(__file__).parents[2] / "deploy" / "security" / "rights.md"
BEGIN = "<!-- rights: written by `python -m tests.support.rights_page --write` -->"
END = "<!-- end of rights -->"
_NAMES = {
    EVENTS: "of `events.topic`",
    RESPONSES: "of `responses.topic`",
    ITS_TOPICS: "its topics",
    ITS_GROUPS: "its groups",
}


def rights_page() -> str:
    """Return Markdown with a row for each right of each program."""
    rows = (_row(program, need) for program, needs in RIGHTS.items() for need in needs)
    return "\n".join(
        ["| program | operation | on | for | without it |", "|---|---|---|---|---|", *rows]
    )


def _row(program: str, need: NeededRight) -> str:
    command, comma, rest = program.partition(",")
    right, only = need.right, f", with `{need.only}`" if need.only else ""
    name = _NAMES.get(right.name, f"`{right.name}`")
    cells = (
        f"`{command}`{comma}{rest}",
        str(right.operation),
        f"{right.kind} {name}",
        f"{need.purpose}{only}",
        need.without or "it does not run",
    )
    return f"| {' | '.join(cells)} |"


def with_rights(page: str) -> str:
    """Return the page with the current table between its markers."""
    return replaced(page, BEGIN, END, rights_page())


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(with_rights(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    else:
        sys.stdout.write(rights_page() + "\n")
