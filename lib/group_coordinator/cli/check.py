"""`group-coordinator check`: whether a run would find all that it needs."""

from __future__ import annotations

from pathlib import Path

import click

from group_coordinator.cli.findings import print_findings
from group_coordinator.cli.job_options import job_options, job_settings
from group_coordinator.job.preflight import preflight
from group_coordinator.local.jars import spark_jars
from group_coordinator.local.scratch import scratch_folder
from group_coordinator.streaming.session import local_session


@click.command()
@job_options
def command(config: Path | None, overrides: tuple[str, ...], bootstrap_server: str | None) -> None:
    """Look at what a run needs, and say of each thing whether it is right, or what to do.

    Topics and their settings, the clock, Spark's way to Kafka, versions, folders, tables, and
    whether the checkpoint may write them. Nothing is changed but that the checkpoint's folder is made,
    and that time passes for the groups: each partition of the events topic gets a Tick. The status
    is 1 if anything is wrong.

    On a cluster give jobs/check_setup.py to spark-submit instead.

    \b
    Example:
      group-coordinator check --config coordinator.toml
    """  # noqa: D301
    settings = job_settings(config, overrides, bootstrap_server)
    with scratch_folder() as scratch:
        print_findings(
            preflight(settings, lambda: local_session(settings.job, spark_jars(), scratch))
        )
