"""Options of the commands that mirror a cluster, and the resulting settings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import click

from group_coordinator.cli.client_properties.connecting import connection_of
from group_coordinator.cli.client_properties.options import options_of_both
from group_coordinator.cli.job_options import log_level_option, metrics_option
from group_coordinator.cli.settings_options import (
    bootstrap_server_option,
    command_config_option,
    settings_options,
)
from group_coordinator.driver.mirror.run import MirrorOptions, mirror_settings
from group_coordinator.settings import Settings, keys_given, load

Function = TypeVar("Function", bound=Callable[..., Any])


class Mirroring(NamedTuple):
    """Settings and options of a mirror job."""

    settings: Settings
    given: frozenset[str]
    options: MirrorOptions


def mirror_options(function: Function) -> Function:
    """Add all options of a mirror: the keyword arguments of `mirroring`."""
    options = (
        bootstrap_server_option("The mirrored Kafka cluster. [bootstrap.servers]"),
        click.option(
            "--cluster", metavar="NAME", help="The cluster's name in the tables. [cluster.id]"
        ),
        click.option(
            "--topic",
            default="__consumer_offsets",
            show_default=True,
            help="The topic to read: __consumer_offsets, or a copy of it under another name.",
        ),
        click.option(
            "--drain", is_flag=True, help="Mirror all records that are readable now, and end."
        ),
        click.option(
            "--with-compaction", is_flag=True, help="Also compact the log into the state tables."
        ),
        metrics_option,
        log_level_option,
        command_config_option,
        settings_options,
    )
    for option in reversed(options):
        function = option(function)
    return function


def mirroring(
    *,
    bootstrap_server: str | None,
    cluster: str | None,
    topic: str,
    drain: bool,
    with_compaction: bool,
    metrics: str | None,
    command_config: Path | None,
    config: Path | None,
    overrides: tuple[str, ...],
) -> Mirroring:
    """Settings and options of a command line."""
    named = {
        "bootstrap.servers": bootstrap_server,
        "cluster.id": cluster,
        "metrics.listen": metrics,
    }
    from_options = [f"{key}={value}" for key, value in named.items() if value is not None]
    settings = mirror_settings(load(config, [*overrides, *from_options]), topic)
    given = options_of_both(command_config)
    # The connection is only checked here: an error names the file.
    job = settings.job
    connection_of(job.bootstrap_servers, job.security, given.python, command_config)
    options = MirrorOptions(drain, with_compaction, given.java, given.python)
    return Mirroring(settings, keys_given(config, overrides), options)
