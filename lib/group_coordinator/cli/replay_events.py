"""`replay-events`: try events on the state machine, without Kafka or Spark."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import BinaryIO

import click
from msgspec import json

from group_coordinator.cli.settings_options import settings_options
from group_coordinator.replay_session import Replay
from group_coordinator.settings import load


@click.command
@click.argument("file", type=click.File("rb"), default="-")
@settings_options
def command(file: BinaryIO, config: Path | None, overrides: tuple[str, ...]) -> None:
    """Run JSON lines from FILE, or from standard input, through the state machine.

    A line is an event at a time in milliseconds, or just a time: deadlines due by then fire. What
    comes of it is written at once, and ends with {"kind": "done"}, so that a program can talk to it.

    \b
      {"at": 1000, "event": {...}}       an event, in the form of the events topic
      {"at": 5000}                       time passes
      {"at": 5000, "topics": [{"name": "orders", "topicId": "...", "numPartitions": 3}]}
                                         the cluster's topics are now exactly these
      {"describe": "my-group"}           the group as it is now

    \b
    When does the offset of a lone commit expire?
      echo '{"at": 0, "event": {"api": "OffsetCommit", "version": 8, "body": {"groupId": "g",
        "topics": [{"name": "orders", "partitions": [{"partitionIndex": 0}]}]}}}
      {"at": 99000}' | tr -d '\\n' | sed 's/}{/}\\n{/' |
        group-coordinator replay-events --set offsets.retention.ms=60000
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    replay = Replay(load(config, overrides).coordinator)
    output = sys.stdout.buffer
    for line in file:
        if line.strip():
            for result in replay.line(line.decode(errors="surrogateescape")):
                output.write(json.encode(result) + b"\n")
            output.flush()
