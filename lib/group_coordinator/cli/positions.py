"""`group-coordinator positions`: samples of the topics' start and end offsets; its options, and the resulting settings."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import click

from group_coordinator.cli.client_properties.options import client_options, connection_of
from group_coordinator.cli.local_sessions import local_sessions
from group_coordinator.cli.shared_options import (
    LONGEST_S,
    Function,
    NumberRange,
    bootstrap_server_option,
    command_config_option,
    log_level_option,
    settings_options,
    with_options,
)
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.driver.error_causes import reported_start_errors
from group_coordinator.driver.positions import sample_positions
from group_coordinator.settings import JobSettings, load


class Sampling(NamedTuple):
    """Settings and options of a sampling job."""

    job: JobSettings
    connection: Connection
    topics: tuple[str, ...] | None
    every_s: int | None


def position_options(function: Function) -> Function:
    """Add all options of the sampling: the keyword arguments of `sampling`."""
    options = (
        bootstrap_server_option("The Kafka cluster. [bootstrap.servers]"),
        click.option(
            "--cluster", metavar="NAME", help="The cluster's name in the tables. [cluster.id]"
        ),
        click.option(
            "--topic",
            "topics",
            multiple=True,
            help="A topic to sample. Repeatable; without it all topics but Kafka's internal ones.",
        ),
        click.option(
            "--every",
            "every_s",
            type=NumberRange(1, LONGEST_S),
            metavar="SECONDS",
            help="Sample at this interval, until Ctrl-C or SIGTERM; without it once.",
        ),
        log_level_option,
        command_config_option,
        settings_options,
    )
    return with_options(function, options)


def sampling(
    *,
    bootstrap_server: str | None,
    cluster: str | None,
    topics: tuple[str, ...],
    every_s: int | None,
    command_config: Path | None,
    config: Path | None,
    overrides: tuple[str, ...],
) -> Sampling:
    """Settings and options of a command line."""
    given = {"bootstrap.servers": bootstrap_server, "cluster.id": cluster}
    from_options = [f"{key}={value}" for key, value in given.items() if value is not None]
    job = load(config, [*overrides, *from_options]).job
    given = client_options(command_config)
    connection = connection_of(job.bootstrap_servers, job.security, given, command_config)
    return Sampling(job, connection, topics or None, every_s)


@click.command()
@position_options
@reported_start_errors()
def command(**given: Any) -> None:
    """Sample log start, last stable and end offsets of all partitions into topic_positions, and share groups into share_group_offsets.

    It sends requests only to the brokers of any cluster, reads no records, and needs no running job. Partitions without
    a leader or a response are reported, and topics and share groups without DESCRIBE are left out. The exit status is 1 if nothing could
    be sampled. With --every, a failed round is reported, and the next round tries again.

    Samples older than positions.retention.ms are removed. Spark starts only for tables in a catalog.

    \b
    Examples:
      group-coordinator positions --bootstrap-server localhost:9092 --cluster eu-1 --every 30
      group-coordinator positions --topic orders --topic refunds
      group-coordinator sql "SELECT cluster_id, topic, sampled_at, sum(log_end_offset) AS written
        FROM topic_positions GROUP BY cluster_id, topic, sampled_at ORDER BY cluster_id, topic, sampled_at"
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    wanted = sampling(**given)
    with local_sessions() as start:
        sample_positions(*wanted, partial(start, wanted.job))
