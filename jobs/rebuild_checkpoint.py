"""The coordinator's lost checkpoint made anew, for spark-submit: parse, build, end.

spark-submit --packages <connector>,<delta> jobs/rebuild_checkpoint.py --config coordinator.toml
"""

from __future__ import annotations

from pathlib import Path

import click

from group_coordinator.cli.job_options import job_options, job_settings
from group_coordinator.cli.refusals import refusals_shown
from group_coordinator.job.rebuild import rebuild_checkpoint
from group_coordinator.streaming.session import submitted_session


@click.command()
@job_options
@refusals_shown()
def main(config: Path | None, overrides: tuple[str, ...], bootstrap_server: str | None) -> None:
    """Make a lost checkpoint anew from the log, on the cluster that spark-submit chose."""
    settings = job_settings(config, overrides, bootstrap_server)
    for line in rebuild_checkpoint(settings, lambda: submitted_session(settings.job)):
        click.echo(line)


if __name__ == "__main__":
    main()
