"""`group-coordinator rebuild`: the rebuild of a lost checkpoint, on this machine."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from group_coordinator.cli.job_options import job_options, job_settings, partitions_option
from group_coordinator.cli.local_sessions import local_sessions
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
    """Make a lost checkpoint again from the log, or change the number of state partitions.

    Every group is replayed from coordinator_log, and the next `run` goes on behind the last event that left something
    there. As after a broker's fail-over, members' sessions begin again and joins that were waiting are to be repeated;
    requests behind that event are handled once more. Refused while there is a checkpoint; safe to repeat until `run`
    has begun.

    With --partitions the checkpoint may be there: Spark 4.2 or later divides its state among N partitions, and groups,
    members and their sessions stay as they are. Stop the job first; `run --drain` ends a batch that was cut off. The next
    `run` goes on with N, whatever shuffle.partitions says.

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
