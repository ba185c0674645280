"""Commands of the command line, run as a user would run them, and their output."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from group_coordinator.demo.board import Board
from group_coordinator.demo.folder import DemoFolder
from group_coordinator.local.child_process import ChildProcess
from group_coordinator.local.java import python_module


def program(*arguments: str) -> list[str]:
    """Return a command of group-coordinator, run by this Python."""
    return python_module("group_coordinator.cli.main", *arguments)


def typed_name() -> str:
    """Return the command that the user types for group-coordinator: the script of a checkout, or the installed program."""
    environment = Path(sys.prefix)
    script = environment.parent / "deploy" / "local"
    # A checkout with its own environment: the user types its script.
    if environment.name == ".venv" and script.is_file():
        return DemoFolder(script).shown(script)
    return "group-coordinator"


class Tool(NamedTuple):
    """A command line program, with its text in the story."""

    shown: str
    command: tuple[str, ...]
    ending: tuple[str, ...] = ()
    """Arguments that the story does not show."""


def our_tool(folder: DemoFolder) -> Tool:
    """Return `group-coordinator` with the settings of the demo."""
    return Tool("group-coordinator", tuple(program()), ("--config", str(folder.settings)))


class Administrator:
    """Runs commands of a tool in turn, and adds each with its output to the board."""

    def __init__(self, tool: Tool, folder: DemoFolder, board: Board[Any]) -> None:
        self._tool = tool
        self._folder = folder
        self._board = board
        self._waiting: deque[tuple[str, ...]] = deque()
        self._running: tuple[tuple[str, ...], ChildProcess] | None = None
        self._count = 0

    @property
    def is_idle(self) -> bool:
        """True if the output of every command is on the board."""
        return self._running is None and not self._waiting

    def run(self, *arguments: str) -> None:
        """Queue a command of the tool."""
        self._waiting.append(arguments)

    def tick(self) -> None:
        """Start the next command, or add the output of the last command."""
        if self._running is not None:
            arguments, process = self._running
            if process.status is None:
                return
            process.end()
            self._running = None
            self._tell(arguments, process.output)
        if self._waiting:
            self._start(self._waiting.popleft())

    def close(self) -> None:
        """End the running command, if any."""
        if self._running is not None:
            self._running[1].end()

    def _start(self, arguments: tuple[str, ...]) -> None:
        self._count += 1
        command = [*self._tool.command, *arguments, *self._tool.ending]
        output = self._folder.output(f"command-{self._count}")
        self._running = arguments, ChildProcess(arguments[0], command, output)

    def _tell(self, arguments: Sequence[str], output: str) -> None:
        lines = [line for line in output.splitlines() if line.strip()]
        self._board.tell(f"$ {self._tool.shown} {' '.join(arguments)}", tuple(lines))
