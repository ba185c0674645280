"""`group-coordinator positions`: samples where the topics' logs begin and end."""

from __future__ import annotations

from pathlib import Path

import click

from group_coordinator import settings
from group_coordinator.cli.groups.client_properties import client_options
from group_coordinator.cli.settings_options import settings_options
from group_coordinator.clients.cluster.connection import Connection, login_options
from group_coordinator.job.position_rounds import sample_positions
from group_coordinator.job.refusal_causes import refusals_told


@click.command()
@click.option(
    "--bootstrap-server", metavar="HOST:PORT", help="The Kafka cluster. [bootstrap.servers]"
)
@click.option("--cluster", metavar="NAME", help="What the tables call the cluster. [cluster.id]")
@click.option(
    "--topic",
    "topics",
    multiple=True,
    help="A topic to sample. Repeatable; without it all topics but Kafka's internal ones.",
)
@click.option(
    "--every",
    "every_s",
    type=click.IntRange(min=1),
    metavar="SECONDS",
    help="Sample again and again, until Ctrl-C or SIGTERM; without it once.",
)
@click.option(
    "--command-config",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Kafka's client properties, for a cluster that wants a login.",
)
@settings_options
@refusals_told()
def command(
    *,
    bootstrap_server: str | None,
    cluster: str | None,
    topics: tuple[str, ...],
    every_s: int | None,
    command_config: Path | None,
    config: Path | None,
    overrides: tuple[str, ...],
) -> None:
    """Sample log start, last stable and end offsets of all partitions into topic_positions.

    It asks the brokers alone, reads no records, and needs no running job: any cluster that lets you
    DESCRIBE its topics will do. What has no leader, or gives no answer, is told and left out; the status
    is 1 if nothing could be sampled. With --every a round that fails is told, and the next one tries again.

    Samples older than positions.retention.ms go. The tables must be in a folder, or in an object store.

    \b
    Examples:
      group-coordinator positions --bootstrap-server localhost:9092 --cluster eu-1 --every 30
      group-coordinator positions --topic orders --topic refunds
      group-coordinator sql "SELECT topic, sampled_at, sum(log_end_offset) AS written
        FROM topic_positions GROUP BY topic, sampled_at ORDER BY topic, sampled_at"
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    given = {"bootstrap.servers": bootstrap_server, "cluster.id": cluster}
    from_options = [f"{key}={value}" for key, value in given.items() if value is not None]
    job = settings.load(config, [*overrides, *from_options]).job
    login = {**login_options(job.security), **client_options(command_config)}
    sample_positions(job, Connection(job.bootstrap_servers, login), topics or None, every_s)
