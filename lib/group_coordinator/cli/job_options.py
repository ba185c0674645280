"""Options of the commands that run the job, and the resulting settings.

File, single settings, bootstrap servers and login override a command's settings.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click
from click.core import ParameterSource

from group_coordinator.cli.client_properties.file import warn_if_others_read
from group_coordinator.cli.option_types import LAST_INT32, Function, NumberRange, with_options
from group_coordinator.codecs.host_and_port import AddressError, broker_list
from group_coordinator.observability.logs import LEVELS, set_level
from group_coordinator.security import SECRETS, variable_of
from group_coordinator.settings import Settings, SettingsError, load, secrets_in


def reject_given(*parameters: str, why: str) -> None:
    """Reject options of the running command, with the message `why` after the option as users write it."""
    context = click.get_current_context()
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        # Defaults are no conflict.
        if parameter.name in parameters and source is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{parameter.opts[0]} {why}")


def bootstrap_server_option(
    meaning: str, name: str = "--bootstrap-server"
) -> Callable[[Function], Function]:
    """Add --bootstrap-server with this help. `broker_list` checks and converts its value."""
    return click.option(name, type=_brokers, metavar="HOST:PORT", help=meaning)


def _brokers(text: str) -> str:
    try:
        return broker_list(text)
    except AddressError as error:
        raise click.BadParameter(str(error)) from error


command_config_option = click.option(
    "--command-config",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A file of Kafka's client properties, for a cluster with a login.",
)
"""Adds --command-config FILE, which becomes `command_config`."""


def settings_options(function: Function) -> Function:
    """Add --config FILE and --set KEY=VALUE, which become `config` and `overrides`."""
    config = click.option(
        "--config",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        callback=_with_secrets_unread,
        help="A file of the settings that differ from conf/coordinator.toml.",
    )
    override = click.option(
        "--set",
        "overrides",
        multiple=True,
        metavar="KEY=VALUE",
        callback=_without_secrets,
        help="One setting, such as tables.root=FOLDER; wins over --config. Repeatable.",
    )
    return config(override(function))


def _with_secrets_unread(_: click.Context, __: click.Parameter, file: Path | None) -> Path | None:
    if file is not None:
        try:
            warn_if_others_read(file, secrets_in(file))
        except SettingsError as error:
            raise click.UsageError(str(error)) from error
    return file


def _without_secrets(
    _: click.Context, __: click.Parameter, overrides: tuple[str, ...]
) -> tuple[str, ...]:
    # Process lists, shell histories and logs of schedulers show a command line.
    for override in overrides:
        key = override.partition("=")[0].strip()
        if key in SECRETS:
            raise click.UsageError(
                f"--set {key}: other users can read a command line: set the environment variable {variable_of(key)}, "
                f"or {key} in a --config file that only you can read"
            )
    return overrides


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
    return with_options(function, options)


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
