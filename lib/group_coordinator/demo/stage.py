"""Common parts of every performance: a folder of its own, and a screen or plain lines."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

from rich.console import Console

from group_coordinator.demo.board import Board, Figures
from group_coordinator.demo.folder import DemoFolder
from group_coordinator.demo.interruption import Interrupted, Interruption
from group_coordinator.demo.look import Look
from group_coordinator.demo.plain import PlainLines
from group_coordinator.demo.screen import Screen
from group_coordinator.local.broker import EmbeddedBroker
from group_coordinator.local.child_process import ChildProcess
from group_coordinator.local.java import python_module


def new_folder() -> DemoFolder:
    """Return a folder below the current folder, which is not created yet."""
    return DemoFolder(Path.cwd() / time.strftime("group-coordinator-demo-%Y%m%d-%H%M%S"))


@contextmanager
def in_folder(folder: DemoFolder, *, keep: bool) -> Iterator[None]:
    """Create the folder for a performance; afterwards only the files of the closing words are left of it, or all files.

    Raises:
        Interrupted: the user ended the performance; the message lists the files that are left.
    """
    folder.make()
    # Messages of libraries must not disturb the screen.
    logging.basicConfig(filename=folder.output("demo"), level=logging.WARNING)
    try:
        yield
    except Interrupted as wish:
        if keep:
            wish.args = (
                f"Interrupted. Nothing runs any more; what there is so far is in {folder.path}.",
            )
        else:
            folder.remove()
        raise
    if not keep:
        folder.remove_scaffolding()


def fetch_jars(
    folder: DemoFolder, interruption: Interruption, module: str = "group_coordinator.local.jars"
) -> None:
    """Fetch missing jars, in a process whose output must not disturb the screen.

    Args:
        folder: for its output.
        interruption: may end it.
        module: the program that fetches.

    Raises:
        CommandFailedError: they cannot be fetched.
    """
    process = ChildProcess("Step 'jars'", python_module(module), folder.output("jars"))
    try:
        process.await_success(interruption.pause)
    finally:
        process.end()


def start_broker(
    resources: ExitStack,
    folder: DemoFolder,
    board: Board[Any],
    interruption: Interruption,
    properties: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Start a broker of the demo's own, which ends with the resources, and return its address."""
    board.say("A real Kafka broker starts on this machine.")
    broker = EmbeddedBroker(folder.broker, properties=properties)
    broker.start()
    resources.callback(broker.stop)
    interruption.check()
    return broker.bootstrap_servers


def display(
    console: Console, board: Board[Figures], look: Look[Figures]
) -> Screen[Figures] | PlainLines[Figures]:
    """Return a screen for a terminal; otherwise plain lines."""
    if console.is_terminal:
        return Screen(console, board, look, "Ctrl-C ends the demo; nothing is left running.")
    return PlainLines(console, board, look)
