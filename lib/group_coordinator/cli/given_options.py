"""Options that say nothing beside others, or without them: who gives one is told so, and not left to wonder."""

from __future__ import annotations

import click
from click.core import ParameterSource


def refuse_given(parameters: dict[str, str], why: str) -> None:
    """Refuse options of the command that is run.

    Args:
        parameters: the option, as users write it, by its parameter's name.
        why: what the message says after the option.

    Raises:
        click.UsageError: the user gave one of them.
    """
    context = click.get_current_context()
    for parameter, option in parameters.items():
        if context.get_parameter_source(parameter) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{option} {why}")
