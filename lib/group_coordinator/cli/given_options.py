"""Options that say nothing beside others, or without them: who gives one is told so, and not left to wonder."""

from __future__ import annotations

import click
from click.core import ParameterSource


def refuse_given(*parameters: str, why: str) -> None:
    """Refuse options of the command that is run.

    Args:
        parameters: the names of the options' parameters.
        why: what the message says after the option, as users write it.

    Raises:
        click.UsageError: the user gave one of them.
    """
    context = click.get_current_context()
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if parameter.name in parameters and source is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{parameter.opts[0]} {why}")
