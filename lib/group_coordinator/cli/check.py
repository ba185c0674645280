"""`group-coordinator check`: the checks of a run's prerequisites."""

from __future__ import annotations

from typing import Any

import click

from group_coordinator.cli.check_options import check_options, findings, print_findings
from group_coordinator.cli.local_sessions import local_sessions


@click.command()
@check_options
def command(**given: Any) -> None:
    """Look at what a run needs, and say of each thing whether it is right, or what to do.

    Topics and their settings, rights, the clock, Spark's way to Kafka, versions, folders, tables, and
    whether the checkpoint may write them. Nothing is changed but that the checkpoint's folder is made,
    and that time passes for the groups: each partition of the events topic gets a Tick. The status
    is 1 if anything is wrong. `less` marks a right that is missing and that a run can do without.

    With --for it checks only the rights of another program's user, and changes nothing. Ask brokers, not
    a gateway, which closes the job's topics.

    On a cluster give jobs/check_setup.py to spark-submit instead.

    \b
    Examples:
      group-coordinator check --config coordinator.toml
      group-coordinator check --for mirror --command-config mirror.properties
    """  # noqa: D301
    with local_sessions() as start:
        print_findings(findings(start, **given))
