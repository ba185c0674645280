"""Options that several commands share: their types, parsed as Java does, their order in the help, and the resulting settings.

File, single settings, bootstrap servers and login override a command's settings.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import reduce
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from group_coordinator.cli.client_properties.file import warn_if_others_read
from group_coordinator.codecs.host_and_port import AddressError, broker_list, host_and_port
from group_coordinator.core.kafka_order import java_number
from group_coordinator.observability.logs import LEVELS, set_level
from group_coordinator.security import SECRETS, variable_of
from group_coordinator.settings import Settings, SettingsError, load, secrets_in
from group_coordinator.tables.timestamps import time_from

Function = TypeVar("Function", bound=Callable[..., Any])
LAST_INT32 = 2**31 - 1
LAST_INT64 = 2**63 - 1


def with_options(function: Function, options: Sequence[Callable[[Function], Function]]) -> Function:
    """Add options that the help lists in this order: click lists decorators from the last to the first."""
    return reduce(lambda decorated, option: option(decorated), reversed(options), function)


def whole_number(text: str, most: int) -> int | None:
    """Parse a number from 0 to `most`; None: the text is none."""
    number = java_number(text)
    return None if number is None or not 0 <= number <= most else number


class NumberRange(click.IntRange):
    """Range of an option's number. Without it click accepts Python's notation, such as 1_0."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, str) and java_number(value) is None:
            self.fail(f"{value!r} is not a whole number.", param, ctx)
        return super().convert(value, param, ctx)


INT64 = NumberRange(-LAST_INT64 - 1, LAST_INT64)
"""Range of offsets, shifts and times in milliseconds."""
LONGEST_S = 366 * 86_400
"""Longest interval of repeated commands, in seconds."""

_UNITS_MS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
_DURATION = re.compile(rf"([0-9]+)({'|'.join(_UNITS_MS)})")


def time_of(text: str) -> datetime:
    """Parse the time of an option, as time_from does."""
    try:
        return time_from(text)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


LOOPBACK = "127.0.0.1:8090"


def address_of(text: str) -> tuple[str, int]:
    try:
        return host_and_port(text)
    except AddressError as error:
        raise click.BadParameter(
            f"{text!r} is not HOST:PORT: give an address such as {LOOPBACK}; port 0 selects a free port"
        ) from error


def as_of_option(function: Function) -> Function:
    """Add --as-of, with a time or None."""
    option = click.option(
        "--as-of",
        type=time_of,
        metavar="TIME",
        help="Query the tables as of this time: 2024-01-02T03:04:05Z, or in UTC 2024-01-02 03:04.",
    )
    return option(function)


def duration_ms_of(text: str) -> int:
    """Convert a number with its unit, such as 90m, to milliseconds: at least 1."""
    parts = _DURATION.fullmatch(text)
    if parts is None or not int(parts[1]):
        raise click.BadParameter(
            f"{text!r} is not a duration: give one such as 500ms, 30s, 90m, 12h, 7d or 2w"
        )
    return int(parts[1]) * _UNITS_MS[parts[2]]


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
            "progress_file",
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
