"""`group-coordinator rebuild`: make a lost checkpoint again, on this machine."""

from __future__ import annotations

from pathlib import Path

import click

from group_coordinator.cli.job_options import job_options, job_settings
from group_coordinator.job.rebuild import rebuild_checkpoint
from group_coordinator.local.jars import session_jars
from group_coordinator.local.scratch import scratch_folder
from group_coordinator.streaming.session import local_session


@click.command()
@job_options
def command(config: Path | None, overrides: tuple[str, ...], bootstrap_server: str | None) -> None:
    """Make a lost checkpoint anew from the log.

    Every group is replayed from coordinator_log, and the next `run` goes on behind the last event that left something
    there. As after a broker's fail-over, members' sessions begin anew and joins that were waiting are to be repeated;
    requests behind that event are handled once more. Refused while there is a checkpoint; safe to repeat until `run`
    has begun.

    \b
    Example, with the same settings as `run`:
      group-coordinator rebuild
      group-coordinator run --with-compaction
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    settings = job_settings(config, overrides, bootstrap_server)
    with scratch_folder() as scratch:
        summary = rebuild_checkpoint(
            settings, lambda: local_session(settings.job, session_jars(settings.job), scratch)
        )
    for line in summary:
        click.echo(line)
