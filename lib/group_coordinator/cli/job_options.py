"""Options of the commands that run the job, and the resulting settings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from group_coordinator.cli.option_types import LAST_INT32, NumberRange
from group_coordinator.cli.settings_options import bootstrap_server_option, settings_options
from group_coordinator.observability.logs import LEVELS, set_level
from group_coordinator.settings import Settings, load

Function = TypeVar("Function", bound=Callable[..., Any])


def job_options(function: Function) -> Function:
    server = bootstrap_server_option("The Kafka cluster with the two topics. [bootstrap.servers]")
    return server(settings_options(function))


log_level_option = click.option(
    "--log-level",
    type=click.Choice(LEVELS),
    default="info",
    show_default=True,
    expose_value=False,
    callback=lambda _context, _option, level: set_level(level),
    help="Log from this level on; debug names each decision.",
)
"""Adds --log-level LEVEL, which takes effect at once."""


def metrics_option(function: Function) -> Function:
    return click.option(
        "--metrics",
        metavar="HOST:PORT",
        help="Serve /metrics for Prometheus, /healthz and /readyz at this address. [metrics.listen]",
    )(function)


def partitions_option(function: Function) -> Function:
    return click.option(
        "--partitions",
        metavar="N",
        type=NumberRange(1, LAST_INT32),
        help="The new number of state partitions. An existing checkpoint is kept, and its state divided again "
        "(Spark 4.2).",
    )(function)


def run_options(function: Function) -> Function:
    """Add the common options of the commands that run the coordinator."""
    options = (
        click.option(
            "--drain", is_flag=True, help="Handle all present events, fire due timers, and end."
        ),
        click.option(
            "--with-compaction", is_flag=True, help="Also compact the log into the state tables."
        ),
        click.option(
            "--progress",
            type=click.Path(dir_okay=False, path_type=Path),
            help="Write the numbers of the last batch to this file, as JSON.",
        ),
        click.option(
            "--redo-open-batch",
            is_flag=True,
            help="End an open batch of another version, although its responses may then differ.",
        ),
        click.option(
            "--accept-new-partitions",
            is_flag=True,
            help="Start although the events topic has new partitions: the order of some events may change.",
        ),
        metrics_option,
        log_level_option,
    )
    # click lists options in the reverse order of their decorators.
    for option in reversed(options):
        function = option(function)
    return function


def job_settings(
    config: Path | None,
    overrides: tuple[str, ...],
    bootstrap_server: str | None,
    metrics: str | None = None,
) -> Settings:
    """Settings that result from the options."""
    given = {"bootstrap.servers": bootstrap_server, "metrics.listen": metrics}
    named = [f"{key}={value}" for key, value in given.items() if value is not None]
    return load(config, [*overrides, *named])
