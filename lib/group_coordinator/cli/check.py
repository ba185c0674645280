"""`group-coordinator check`: the checks of a run's prerequisites, their options and findings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import click
from pyspark.sql import SparkSession

from group_coordinator.cli.client_properties.options import client_options, connection_of
from group_coordinator.cli.local_sessions import local_sessions
from group_coordinator.cli.shared_options import (
    Function,
    command_config_option,
    job_options,
    job_settings,
)
from group_coordinator.driver.checks.preflight import (
    CheckResult,
    identity_of_clients,
    preflight,
    rights_of,
)
from group_coordinator.driver.checks.rights import RIGHTS, can_be_asked_for
from group_coordinator.settings import JobSettings

_WRONG = 1
_WIDTH = len("events partitions")


def print_findings(findings: Iterable[CheckResult]) -> None:
    """Print each finding as soon as it is known; exit with status 1 if a prerequisite is wrong."""
    wrong = 0
    for finding in findings:
        wrong += not finding.is_right and finding.is_needed
        verdict = "right" if finding.is_right else "WRONG" if finding.is_needed else "less "
        click.echo(f"{verdict}  {finding.subject:{_WIDTH}}  {finding.text}")
    if wrong:
        click.get_current_context().exit(_WRONG)


_RUN, _GATEWAY = "run", "gateway"
_BY_SETTINGS = (_RUN, "init", "rebuild")
"""Programs that log in with the settings alone, without client properties."""


def check_options(function: Function) -> Function:
    """Add all options of a check: the keyword arguments of `findings`."""
    program = click.option(
        "--for",
        "program",
        type=click.Choice([name for name, needs in RIGHTS.items() if can_be_asked_for(needs)]),
        default=_RUN,
        show_default=True,
        help="The program to check. For all programs but run, only the rights of its user are checked.",
    )
    return job_options(program(command_config_option(function)))


def findings(
    make_session: Callable[[JobSettings], SparkSession],
    *,
    program: str,
    command_config: Path | None,
    config: Path | None,
    overrides: tuple[str, ...],
    bootstrap_server: str | None,
) -> Iterator[CheckResult]:
    """Yield the findings about the program. Only a check of `run` starts a Spark session."""
    settings = job_settings(config, overrides, bootstrap_server)
    job = settings.job
    if command_config is not None and program in _BY_SETTINGS:
        raise click.UsageError(
            f"--command-config has no effect on --for {program}: {program} logs in with the settings; use --config or --set"
        )
    if program == _RUN:
        yield from preflight(settings, partial(make_session, job))
        return
    given = client_options(command_config)
    # Other programs log in with client properties, so their user may differ from the job's.
    connection = connection_of(job.bootstrap_servers, job.security, given, command_config)
    yield from rights_of(program, job, connection)
    if program == _GATEWAY:
        # Only the gateway acts for other users.
        yield from identity_of_clients(job, connection)


@click.command()
@check_options
def command(**given: Any) -> None:
    """Check the prerequisites of a run, and say how to fix each.

    These are topics and their settings, rights, the clock, the connection of Spark's tasks to Kafka, versions, folders,
    tables, and the checkpoint's ownership of them. The check creates the checkpoint's folder, and writes a Tick to each
    partition of the events topic, so that time passes for the groups. The exit status is 1 if a check fails. `less`
    marks a missing right that a run can do without.

    With --for it checks only the rights of another program's user, and changes nothing. Connect to brokers, not to a
    gateway, which hides the job's topics.

    On a cluster, submit jobs/check_setup.py instead.

    \b
    Examples:
      group-coordinator check --config coordinator.toml
      group-coordinator check --for mirror --command-config mirror.properties
    """  # noqa: D301
    with local_sessions() as start:
        print_findings(findings(start, **given))
