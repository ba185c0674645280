"""The option by which a command logs in at a cluster."""

from __future__ import annotations

from pathlib import Path

import click

command_config_option = click.option(
    "--command-config",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Kafka's client properties, for a cluster that wants a login.",
)
"""Adds --command-config FILE, which becomes `command_config`."""
