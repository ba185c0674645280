"""`group-coordinator broker`: a real Kafka broker on this machine."""

from __future__ import annotations

from pathlib import Path

import click

from group_coordinator.cli.shared_options import NumberRange
from group_coordinator.local import daemon


@click.group()
def command() -> None:
    """Start or stop a Kafka broker on this machine.

    It is a real Apache Kafka broker for experiments: a process that only this machine can reach, and that
    runs until it is stopped.
    """


@command.command()
@click.option(
    "--data",
    "data_dir",
    type=click.Path(file_okay=False, path_type=Path),
    help="Keep the topics in this folder.  [default: a temporary folder, removed when the broker stops]",
)
@click.option(
    "--port",
    type=NumberRange(1, 65535),
    help="Listen on this port.  [default: 9092, or a free port if 9092 is in use]",
)
def start(data_dir: Path | None, port: int | None) -> None:
    """Start the broker and print its address."""
    try:
        started = daemon.start(data_dir, port)
    except OSError as error:
        raise click.ClickException(f"{error.filename or data_dir}: {error.strerror}") from error
    click.echo(started.bootstrap_servers)


@command.command()
def stop() -> None:
    """Stop the broker and print its former address."""
    stopped = daemon.stop()
    if stopped is None:
        raise click.ClickException("No broker runs")
    click.echo(stopped.bootstrap_servers)
