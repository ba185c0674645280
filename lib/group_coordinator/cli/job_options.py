"""The options of the commands that run the job, and the settings that result."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from group_coordinator.cli.settings_options import settings_options
from group_coordinator.settings import Settings, load

Function = TypeVar("Function", bound=Callable[..., Any])


def job_options(function: Function) -> Function:
    """Add --config, --set and --bootstrap-server."""
    server = click.option(
        "--bootstrap-server",
        metavar="HOST:PORT",
        help="The Kafka cluster with the two topics; the setting bootstrap.servers.",
    )
    return server(settings_options(function))


def job_settings(
    config: Path | None, overrides: tuple[str, ...], bootstrap_server: str | None
) -> Settings:
    """The settings that result from the options."""
    servers = [] if bootstrap_server is None else [f"bootstrap.servers={bootstrap_server}"]
    return load(config, [*overrides, *servers])
