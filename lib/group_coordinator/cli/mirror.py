"""`group-coordinator mirror`: the mirror of another cluster's groups, on this machine; its options, and the resulting settings."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import click

from group_coordinator.cli.client_properties.options import connection_of, options_of_both
from group_coordinator.cli.local_sessions import local_sessions
from group_coordinator.cli.shared_options import (
    Function,
    bootstrap_server_option,
    command_config_option,
    log_level_option,
    metrics_option,
    reject_given,
    settings_options,
    with_options,
)
from group_coordinator.driver.coordinator import checkpoints_held
from group_coordinator.driver.mirror.run import MirrorOptions, mirror_settings, run_mirror
from group_coordinator.mirror.admin_source import ADMIN
from group_coordinator.mirror.query import QUERY_NAME
from group_coordinator.settings import Settings, keys_given, load
from group_coordinator.streaming import compaction_query


class Mirroring(NamedTuple):
    """Settings and options of a mirror job."""

    settings: Settings
    given: frozenset[str]
    options: MirrorOptions


def mirror_options(function: Function) -> Function:
    """Add all options of a mirror: the keyword arguments of `mirroring`."""
    options = (
        bootstrap_server_option("The mirrored Kafka cluster. [bootstrap.servers]"),
        click.option(
            "--cluster", metavar="NAME", help="The cluster's name in the tables. [cluster.id]"
        ),
        click.option(
            "--topic",
            default="__consumer_offsets",
            show_default=True,
            help="The topic to read: __consumer_offsets, or a copy of it under another name.",
        ),
        click.option(
            "--source",
            type=click.Choice(["topic", "admin"]),
            default="topic",
            show_default=True,
            help="topic: read the offsets topic. admin: poll the brokers by Kafka's admin protocol, which needs no right "
            "to read it.",
        ),
        click.option(
            "--drain", is_flag=True, help="Mirror all records that are readable now, and end."
        ),
        click.option(
            "--with-compaction", is_flag=True, help="Also compact the log into the state tables."
        ),
        metrics_option,
        log_level_option,
        command_config_option,
        settings_options,
    )
    return with_options(function, options)


def mirroring(
    *,
    bootstrap_server: str | None,
    cluster: str | None,
    topic: str,
    source: str,
    drain: bool,
    with_compaction: bool,
    metrics: str | None,
    command_config: Path | None,
    config: Path | None,
    overrides: tuple[str, ...],
) -> Mirroring:
    """Settings and options of a command line."""
    named = {
        "bootstrap.servers": bootstrap_server,
        "cluster.id": cluster,
        "metrics.listen": metrics,
    }
    from_options = [f"{key}={value}" for key, value in named.items() if value is not None]
    by_polls = source == "admin"
    if by_polls:
        reject_given(
            "topic", why="names a topic, and --source admin reads none: remove one of them"
        )
    settings = mirror_settings(
        load(config, [*overrides, *from_options]), ADMIN if by_polls else topic
    )
    given = options_of_both(command_config)
    # The connection is only checked here: an error names the file.
    job = settings.job
    connection_of(job.bootstrap_servers, job.security, given.python, command_config)
    options = MirrorOptions(drain, with_compaction, by_polls, given.java, given.python)
    return Mirroring(settings, keys_given(config, overrides), options)


@click.command()
@mirror_options
def command(**given: Any) -> None:
    """Read a live cluster's __consumer_offsets into the tables, without a change of its clients.

    Every record becomes a row of coordinator_log, exactly once. With --with-compaction, groups, members and offsets are
    kept current too. It reads only committed records: first from the topic's beginning, later from the end of its last
    run. It writes nothing to the cluster. `check --for mirror` lists the rights that its user lacks. Records that
    cannot be decoded are also in dead_letters. The ends of all topics are sampled into topic_positions, and
    share groups into share_group_offsets (mirror.positions.interval.ms). Missing tables are created.

    Several clusters share the tables: each has a name and a mirror. The checkpoint is checkpoint.location/mirror-NAME.
    It runs until Ctrl-C or SIGTERM, or, with --drain, until all records that are readable now are read.

    \b
    Examples:
      group-coordinator mirror --bootstrap-server kafka-1:9092 --cluster eu-1 --with-compaction
      group-coordinator mirror --cluster eu-1 --drain --with-compaction     # as a scheduled job
      group-coordinator sql "SELECT group_id, topic, partition, committed_offset FROM offsets"
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    settings, keys, options = mirroring(**given)
    # Each query has its own checkpoint, which no other process may use.
    queries = [QUERY_NAME] + [compaction_query.QUERY_NAME] * options.with_compaction
    with checkpoints_held(settings.job, *queries), local_sessions() as start:
        run_mirror(settings, keys, partial(start, settings.job), options)
