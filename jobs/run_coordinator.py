"""The coordinator for spark-submit: parse, build, await.

spark-submit --packages <connector>,<delta> jobs/run_coordinator.py --config coordinator.toml [--drain]
"""

from __future__ import annotations

from pathlib import Path

import click

from group_coordinator.cli.job_options import job_options, job_settings
from group_coordinator.cli.refusals import refusals_shown
from group_coordinator.job.run import RunOptions, run_coordinator
from group_coordinator.streaming.session import submitted_session


@click.command()
@job_options
@click.option("--drain", is_flag=True, help="Process what is there, fire what is due, and end.")
@click.option("--with-compaction", is_flag=True, help="Fold the log into the tables as well.")
@click.option(
    "--progress", type=click.Path(path_type=Path), help="File for the last batch's figures."
)
@refusals_shown()
def main(
    config: Path | None,
    overrides: tuple[str, ...],
    bootstrap_server: str | None,
    drain: bool,  # noqa: FBT001 - click hands a flag over as an argument
    with_compaction: bool,  # noqa: FBT001
    progress: Path | None,
) -> None:
    """Run the coordinator on the cluster that spark-submit chose; SIGTERM ends it between two batches."""
    settings = job_settings(config, overrides, bootstrap_server)
    options = RunOptions(drain, with_compaction, progress)
    run_coordinator(settings, lambda: submitted_session(settings.job), options)


if __name__ == "__main__":
    main()
