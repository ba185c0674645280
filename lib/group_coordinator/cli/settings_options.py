"""The options with which a command's settings are overridden."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from group_coordinator.cli.secret_files import warn_if_others_read
from group_coordinator.security import SECRETS, variable_of
from group_coordinator.settings import SettingsError, secrets_in

Function = TypeVar("Function", bound=Callable[..., Any])


def settings_options(function: Function) -> Function:
    """Add --config FILE and --set KEY=VALUE, which become `config` and `overrides`."""
    config = click.option(
        "--config",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        callback=_with_secrets_unread,
        help="Settings that differ from conf/coordinator.toml.",
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
    """Process lists, shell histories and logs of schedulers show a command line."""
    for override in overrides:
        key = override.partition("=")[0].strip()
        if key in SECRETS:
            raise click.UsageError(
                f"--set {key}: other users can read a command line: set the environment variable {variable_of(key)}, "
                f"or {key} in a --config file that only you can read"
            )
    return overrides
