"""The table of rights in deploy/security/rights.md, and the commands that grant them, from their definition.

    python -m tests.support.rights_page [--write]

It prints the page; with --write it writes the page.
"""

from __future__ import annotations

import shlex
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from group_coordinator.driver.checks.rights import (
    EVENTS,
    ITS_GROUPS,
    ITS_TOPICS,
    RESPONSES,
    RIGHTS,
    NeededRight,
    can_be_asked_for,
    grant_command,
    right_of,
)
from group_coordinator.settings import load
from tests.support.table_pages import replaced

PAGE = Path(__file__).parents[2] / "deploy" / "security" / "rights.md"
BEGIN = "<!-- rights: written by `python -m tests.support.rights_page --write` -->"
END = "<!-- end of rights -->"
COMMANDS_BEGIN = "<!-- commands: written by the same program -->"
COMMANDS_END = "<!-- end of commands -->"
_ADD = 'add() { kafka-acls.sh --bootstrap-server kafka-1:9092 --command-config admin.properties --add --allow-principal "$@"; }'
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


def commands_page() -> str:
    """Return Markdown with the commands of each program whose rights have no names of its arguments."""
    programs = [program for program, needs in RIGHTS.items() if can_be_asked_for(needs)]
    blocks = ("\n".join([f"# {program}", *commands_of(program)]) for program in programs)
    return "```\n" + "\n\n".join([_ADD, *blocks]) + "\n```"


def commands_of(program: str) -> Iterator[str]:
    """Yield a command for each resource, with all operations on it; the names are those of the default settings."""
    job, operations = load().job, defaultdict(list)
    for need in RIGHTS[program]:
        granted = shlex.split(grant_command(right_of(need, job), "", ""))
        operation, *resource = granted[granted.index("--operation") + 1 :]
        operations[tuple(resource)] += ["--operation", operation]
    for resource, options in operations.items():
        user = f"User:{program.partition(',')[0]}"
        yield f"add {shlex.join([user, *options, *resource])}"


def with_rights(page: str) -> str:
    """Return the page with the current table and commands between its markers."""
    with_table = replaced(page, BEGIN, END, rights_page())
    return replaced(with_table, COMMANDS_BEGIN, COMMANDS_END, commands_page())


if __name__ == "__main__":
    written = with_rights(PAGE.read_text(encoding="utf-8"))
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(written, encoding="utf-8")
    else:
        sys.stdout.write(written)
