"""`group-coordinator-job`: the jobs on a cluster with Spark, by spark-submit or a scheduler (jobs/, python_wheel_task)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import click

from group_coordinator.cli.check import check_options, findings, print_findings
from group_coordinator.cli.labels import label_options, labels_of_file, said
from group_coordinator.cli.mirror import mirror_options, mirroring
from group_coordinator.cli.positions import position_options, sampling
from group_coordinator.cli.query_output import (
    FORMATS,
    check_format_of_file,
    format_option,
    output_option,
    show,
)
from group_coordinator.cli.shared_options import (
    as_of_option,
    job_options,
    job_settings,
    log_level_option,
    partitions_option,
    run_options,
)
from group_coordinator.cli.user_errors import escape_missing_characters, user_errors_shown
from group_coordinator.driver.coordinator import RunOptions, run_compaction, run_coordinator
from group_coordinator.driver.mirror.run import run_mirror
from group_coordinator.driver.positions import sample_positions
from group_coordinator.driver.rebuild import rebuild_checkpoint
from group_coordinator.driver.signals import TerminatedError, signals_raised_in_python
from group_coordinator.driver.tables import ask_tables, create_tables_of, replace_labels
from group_coordinator.settings import SettingsError
from group_coordinator.streaming.checkpoint.object_store import use_login_of_submit
from group_coordinator.streaming.session import submitted_session


@contextmanager
def _reported_errors() -> Iterator[None]:
    """Exit with a sentence and status 1 for an error that a user can fix; 2 for an invalid setting."""
    try:
        with user_errors_shown(), signals_raised_in_python():
            yield
    except SettingsError as error:
        raise click.UsageError(str(error)) from error
    except TerminatedError:
        click.echo("Terminated.", err=True)
        raise click.exceptions.Exit(TerminatedError.status) from None


@click.group()
def jobs() -> None:
    """The jobs of the group coordinator on a cluster, with the cluster's Spark."""
    escape_missing_characters()


def main() -> None:
    """Entry point, which returns if the job succeeds.

    A scheduler that calls it (Databricks' python_wheel_task) treats a SystemExit as a failure, even with status 0.
    """
    try:
        jobs()
    except SystemExit as end:
        if end.code:
            raise


@jobs.command()
@job_options
@_reported_errors()
def create_tables(
    config: Path | None, overrides: tuple[str, ...], bootstrap_server: str | None
) -> None:
    """Create the tables, by this cluster; safe to repeat."""
    job = job_settings(config, overrides, bootstrap_server).job
    for table in create_tables_of(job, partial(submitted_session, job)):
        click.echo(f"table {table}: exists")


@jobs.command()
@check_options
@_reported_errors()
def check(**given: Any) -> None:
    """Check the prerequisites of a run, and say how to fix each; status 1 if a check fails."""
    print_findings(findings(submitted_session, **given))


@jobs.command()
@job_options
@run_options
@_reported_errors()
def run(
    config: Path | None,
    overrides: tuple[str, ...],
    bootstrap_server: str | None,
    metrics: str | None,
    **options: Any,
) -> None:
    """Run the coordinator; SIGTERM ends it between two batches, with status 0."""
    settings = job_settings(config, overrides, bootstrap_server, metrics)
    run_coordinator(settings, partial(submitted_session, settings.job), RunOptions(**options))


@jobs.command()
@job_options
@click.option("--drain", is_flag=True, help="Compact the present rows, and end.")
@log_level_option
@_reported_errors()
def compact(
    config: Path | None, overrides: tuple[str, ...], bootstrap_server: str | None, drain: bool
) -> None:
    """Compact the log into groups, members, offsets and group_configs."""
    settings = job_settings(config, overrides, bootstrap_server)
    run_compaction(settings, partial(submitted_session, settings.job), drain=drain)


@jobs.command()
@mirror_options
@_reported_errors()
def mirror(**given: Any) -> None:
    """Read a live cluster's __consumer_offsets into the tables; SIGTERM ends it between two batches, with status 0."""
    settings, keys, options = mirroring(**given)
    run_mirror(settings, keys, partial(submitted_session, settings.job), options)


@jobs.command()
@position_options
@_reported_errors()
def positions(**given: Any) -> None:
    """Sample the start and end offsets of topics; SIGTERM ends it between two samples, with status 0."""
    wanted = sampling(**given)
    # The tables may be written without a session, so spark-submit's login is shared first.
    use_login_of_submit(wanted.job)
    sample_positions(*wanted, partial(submitted_session, wanted.job))


@jobs.command()
@label_options
@_reported_errors()
def labels(**given: Any) -> None:
    """Replace the owners and objectives of a cluster's groups by those of a file."""
    wanted = labels_of_file(**given)
    # The tables may be written without a session, so spark-submit's login is shared first.
    use_login_of_submit(wanted.job)
    replace_labels(*wanted, partial(submitted_session, wanted.job))
    click.echo(said(wanted))


@jobs.command()
@click.argument("query")
@as_of_option
@format_option(FORMATS, default="csv")
@output_option(FORMATS)
@job_options
@_reported_errors()
def sql(
    query: str,
    as_of: datetime | None,
    printed: str,
    output: tuple[str, Path] | None,
    config: Path | None,
    overrides: tuple[str, ...],
    bootstrap_server: str | None,
) -> None:
    """Query this cluster's tables in Spark's SQL; tables and views have their plain names."""
    check_format_of_file(output)
    settings = job_settings(config, overrides, bootstrap_server)
    response = ask_tables(settings, partial(submitted_session, settings.job), query, as_of)
    show(response, FORMATS, printed, output)


@jobs.command()
@job_options
@partitions_option
@log_level_option
@_reported_errors()
def rebuild(
    config: Path | None,
    overrides: tuple[str, ...],
    bootstrap_server: str | None,
    partitions: int | None,
) -> None:
    """Rebuild a lost checkpoint from the log, or change the number of state partitions."""
    settings = job_settings(config, overrides, bootstrap_server)
    for line in rebuild_checkpoint(settings, partial(submitted_session, settings.job), partitions):
        click.echo(line)
