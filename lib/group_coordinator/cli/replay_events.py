"""`replay-events`: the state machine on events from a file, without Kafka or Spark."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import BinaryIO

import click
from msgspec import json

from group_coordinator.cli.shared_options import settings_options
from group_coordinator.cli.user_errors import visible_json
from group_coordinator.runtime.replay_session import Replay
from group_coordinator.settings import load


@click.command
@click.argument("file", type=click.File("rb"), default="-")
@settings_options
def command(file: BinaryIO, config: Path | None, overrides: tuple[str, ...]) -> None:
    """Run JSON lines from FILE, or from standard input, through the state machine.

    The lines set the time, so a week of retention takes no time. The outputs of a line are written at once, each as a
    JSON object in a line, and end with {"kind": "done"}.

    \b
      {"at": 1000, "event": {...}}   an event as in the events topic, at a time in milliseconds
      {"at": 5000}                   time passes: deadlines due by then fire
      {"at": 5000, "topics": [{"name": "orders", "topicId": "...", "numPartitions": 3}]}
                                     the topics of the cluster are now exactly these
      {"at": 5000, "acls": [...], "superUsers": ["User:admin"]}
                                     the ACLs are now exactly these
      {"describe": "my-group"}       the present state of the group

    \b
    Expirations with another retention:
      group-coordinator replay-events --set offsets.retention.minutes=60 story.jsonl
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    replay = Replay(load(config, overrides).coordinator)
    output = sys.stdout.buffer
    for line in file:
        if line.strip():
            # Invalid UTF-8 is an error of its line, not of the command.
            for result in replay.line(line.decode(errors="surrogateescape")):
                output.write(visible_json(json.encode(result).decode(), None).encode() + b"\n")
            # Flushed for programs that wait for the results of a line.
            output.flush()
