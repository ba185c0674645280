"""`group-coordinator init`: the topics and the tables."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from group_coordinator.cli.job_options import job_options, job_settings
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.coordinator_topics import create_topics
from group_coordinator.job.refusal_causes import refusals_told
from group_coordinator.local.jars import spark_jars
from group_coordinator.local.scratch import scratch_folder
from group_coordinator.streaming.session import local_session
from group_coordinator.tables.creation import create_tables


@click.command()
@job_options
@refusals_told()
def command(config: Path | None, overrides: tuple[str, ...], bootstrap_server: str | None) -> None:
    """Create the topics and the tables; safe to repeat.

    The events topic is stamped by the brokers (LogAppendTime): their time is the groups' time.

    \b
    Example:
      group-coordinator init --bootstrap-server localhost:9092 --set events.topic.partitions=16
    """  # noqa: D301
    settings = job_settings(config, overrides, bootstrap_server)
    created = create_topics(Connection.of(settings.job), settings.job)
    for topic in (settings.job.events_topic, settings.job.responses_topic):
        click.echo(f"topic {topic}: {'created' if topic in created else 'is there'}")
    with scratch_folder() as scratch:
        make_session = partial(local_session, settings.job, spark_jars(), scratch)
        for table in create_tables(settings.job.tables_root, make_session):
            click.echo(f"table {table}: is there")
