"""Compaction for spark-submit: parse, build, await.

spark-submit --packages <connector>,<delta> jobs/compact_tables.py --config coordinator.toml [--drain]
"""

from __future__ import annotations

from pathlib import Path

import click

from group_coordinator.cli.job_options import job_options, job_settings
from group_coordinator.cli.refusals import refusals_shown
from group_coordinator.job.run import run_compaction
from group_coordinator.streaming.session import submitted_session


@click.command()
@job_options
@click.option("--drain", is_flag=True, help="Compact what is there, and end.")
@refusals_shown()
def main(
    config: Path | None,
    overrides: tuple[str, ...],
    bootstrap_server: str | None,
    drain: bool,  # noqa: FBT001 - click hands a flag over as an argument
) -> None:
    """Fold the log into the tables on the cluster that spark-submit chose."""
    settings = job_settings(config, overrides, bootstrap_server)
    run_compaction(settings, lambda: submitted_session(settings.job), drain=drain)


if __name__ == "__main__":
    main()
