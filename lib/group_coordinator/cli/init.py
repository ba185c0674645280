"""`group-coordinator init`: creation of the topics and the tables."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from group_coordinator.cli.local_sessions import local_sessions
from group_coordinator.cli.shared_options import job_options, job_settings
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.coordinator_topics import create_topics
from group_coordinator.driver.error_causes import reported_start_errors
from group_coordinator.driver.tables import create_tables_of


@click.command()
@job_options
@click.option(
    "--topics-only",
    is_flag=True,
    help="Create only the topics: jobs/create_tables.py creates the tables on a cluster.",
)
@reported_start_errors()
def command(
    config: Path | None, overrides: tuple[str, ...], bootstrap_server: str | None, topics_only: bool
) -> None:
    """Create the topics and the tables; safe to repeat.

    The events topic is stamped by the brokers (LogAppendTime): their time is the groups' time.

    \b
    Example:
      group-coordinator init --bootstrap-server localhost:9092 --set events.topic.partitions=16
    """  # noqa: D301
    settings = job_settings(config, overrides, bootstrap_server)
    created = create_topics(Connection.of(settings.job), settings.job)
    for topic in (settings.job.events_topic, settings.job.responses_topic):
        click.echo(f"topic {topic}: {'created' if topic in created else 'exists'}")
    if topics_only:
        return
    with local_sessions() as start:
        tables = create_tables_of(settings.job, partial(start, settings.job))
        for table in tables:
            click.echo(f"table {table}: exists")
