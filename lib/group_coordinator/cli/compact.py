"""`group-coordinator compact`: compaction on this machine."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from group_coordinator.cli.local_sessions import local_sessions
from group_coordinator.cli.shared_options import job_options, job_settings, log_level_option
from group_coordinator.driver.coordinator import checkpoints_held, run_compaction
from group_coordinator.streaming.compaction_query import QUERY_NAME


@click.command()
@job_options
@click.option("--drain", is_flag=True, help="Compact the present rows, and end.")
@log_level_option
def command(
    config: Path | None, overrides: tuple[str, ...], bootstrap_server: str | None, drain: bool
) -> None:
    """Compact the log into groups, members, offsets and group_configs.

    It runs until Ctrl-C or SIGTERM. It may stop for any time, as no response waits for it, and then continues. It
    compacts the rows of its own cluster.id. Only one compaction of a cluster may run at a time.
    """
    settings = job_settings(config, overrides, bootstrap_server)
    with checkpoints_held(settings.job, QUERY_NAME), local_sessions() as start:
        run_compaction(settings, partial(start, settings.job), drain=drain)
