"""What Kafka's tool and ours said to the same command lines, as a page for people.

SIDE_BY_SIDE=groups.md python -m pytest -m "" tests/broker/clients/test_groups_command.py
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.broker.clients.explained_differences import Said

VARIABLE = "SIDE_BY_SIDE"
"""Of the environment: the page's path; without it there is none."""


@dataclass
class SideBySide:
    """By command line, in the order in which they were asked."""

    theirs: dict[str, Said] = field(default_factory=dict)
    ours: dict[str, Said] = field(default_factory=dict)

    def write(self) -> None:
        """The page, where somebody wants one."""
        if VARIABLE in os.environ:
            Path(os.environ[VARIABLE]).write_text("\n".join(self._page()), encoding="utf-8")

    def _page(self) -> Iterator[str]:
        pairs = [(line, self.theirs[line], said) for line, said in self.ours.items()]
        same = sum(theirs == ours for _, theirs, ours in pairs)
        yield "# kafka-consumer-groups 4.3.1 and `group-coordinator groups`"
        yield (
            f"\n{len(pairs)} command lines; {same} are the same to the byte, status included. How the others differ, and "
            "why, is at the head of tests/broker/clients/explained_differences.py."
        )
        for line, theirs, ours in pairs:
            yield f"\n## `{line}`\n"
            if theirs == ours:
                yield f"Both, with status {ours.status}:\n\n{_block(ours)}"
            else:
                yield f"Kafka's, with status {theirs.status}:\n\n{_block(theirs)}\n"
                yield f"Ours, with status {ours.status}:\n\n{_block(ours)}"


def _block(said: Said) -> str:
    printed = said.out + (f"--- standard error\n{said.err}" if said.err else "")
    return f"```\n{printed.rstrip()}\n```"
