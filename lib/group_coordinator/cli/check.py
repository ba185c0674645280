"""`group-coordinator check`: the checks of a run's prerequisites."""

from __future__ import annotations

from typing import Any

import click

from group_coordinator.cli.check_options import check_options, findings, print_findings
from group_coordinator.cli.local_sessions import local_sessions


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
