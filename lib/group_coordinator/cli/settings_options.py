"""The options with which a command's settings are overridden."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

Function = TypeVar("Function", bound=Callable[..., Any])


def settings_options(function: Function) -> Function:
    """Add --config FILE and --set KEY=VALUE, which become `config` and `overrides`."""
    config = click.option(
        "--config",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="Settings that differ from conf/coordinator.toml.",
    )
    override = click.option(
        "--set",
        "overrides",
        multiple=True,
        metavar="KEY=VALUE",
        help="One setting, such as tables.root=FOLDER; wins over --config. Repeatable.",
    )
    return config(override(function))
