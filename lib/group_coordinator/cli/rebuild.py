"""`group-coordinator rebuild`: the rebuild of a lost checkpoint, on this machine."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from group_coordinator.cli.local_sessions import local_sessions
from group_coordinator.cli.shared_options import (
    job_options,
    job_settings,
    log_level_option,
    partitions_option,
)
from group_coordinator.driver.coordinator import checkpoints_held
from group_coordinator.driver.rebuild import rebuild_checkpoint
from group_coordinator.streaming.checkpoint.layout import QUERY_NAME


@click.command()
@job_options
@partitions_option
@log_level_option
def command(
    config: Path | None,
    overrides: tuple[str, ...],
    bootstrap_server: str | None,
    partitions: int | None,
) -> None:
    """Rebuild a lost checkpoint from the log, or change the number of state partitions.

    Every group is replayed from coordinator_log, and the next `run` continues after the last event with a row there. As
    after a broker's fail-over, members' sessions start again, clients repeat pending joins, and later requests are
    handled once more. An existing checkpoint is an error. The rebuild may be repeated until `run` starts.

    With --partitions the checkpoint may exist: Spark 4.2 or later divides its state among N partitions, and groups,
    members and their sessions are unchanged. Stop the job first; `run --drain` ends an open batch. The next `run` uses
    N, and ignores shuffle.partitions.

    \b
    Example, with the same settings as `run`:
      group-coordinator rebuild
      group-coordinator run --with-compaction
      group-coordinator rebuild --partitions 8     # the job is stopped
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    settings = job_settings(config, overrides, bootstrap_server)
    changed = [QUERY_NAME] if partitions is not None else []
    with checkpoints_held(settings.job, *changed), local_sessions() as start:
        summary = rebuild_checkpoint(settings, partial(start, settings.job), partitions)
    for line in summary:
        click.echo(line)
