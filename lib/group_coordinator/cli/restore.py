"""`group-coordinator restore`: committed offsets as they were at an earlier time; its options and its table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import click
import pyarrow as pa
from kafka import TopicPartition

from group_coordinator.cli.client_properties.connecting import connection_of
from group_coordinator.cli.client_properties.options import client_options
from group_coordinator.cli.groups import admin_of
from group_coordinator.cli.groups.options import topics_of
from group_coordinator.cli.job_options import (
    bootstrap_server_option,
    command_config_option,
    settings_options,
)
from group_coordinator.cli.option_types import Function, time_of, with_options
from group_coordinator.cli.query_output import FORMATS as PLAIN_FORMATS
from group_coordinator.cli.query_output import cell_text, format_option, print_table, show
from group_coordinator.clients.cluster.cluster import Cluster
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.errors import ClientError, NotRestorableError
from group_coordinator.clients.restore import (
    GroupOffsets,
    GroupPlan,
    JobGroups,
    KafkaGroups,
    Offsets,
    PastOffset,
    PastTables,
    RestoredOffset,
    check_inactive,
    executed,
    is_chosen,
    logs_of,
    planned,
    with_mapped_offsets,
    with_same_offsets,
)
from group_coordinator.settings import Settings, load

FORMATS = {"table": print_table, **PLAIN_FORMATS}
SCHEMA = pa.schema(
    [
        ("group_id", pa.string()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset_now", pa.int64()),
        ("offset_then", pa.int64()),
        ("new_offset", pa.int64()),
        ("written", pa.bool_()),
        ("note", pa.string()),
    ]
)
"""Columns of the result. The first two offsets are null if there is none."""


def _restore_options(function: Function) -> Function:
    to_command_config = click.option(
        "--to-command-config",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="A file of Kafka's client properties for --to-bootstrap-server. [--command-config]",
    )
    options = (
        click.option(
            "--group",
            "group_ids",
            multiple=True,
            required=True,
            metavar="GROUP",
            help="A group to restore. Repeatable.",
        ),
        click.option(
            "--as-of",
            type=time_of,
            metavar="TIME",
            help="The time of the offsets: 2024-01-02T03:04:05Z, or in UTC 2024-01-02 03:04.",
        ),
        click.option(
            "--before-reset",
            is_flag=True,
            help="Instead of --as-of: just before each group's newest reset or rewind (view audit).",
        ),
        click.option(
            "--topic",
            "topics",
            multiple=True,
            metavar="TOPIC[:N,N]",
            help="Only this topic, or some partitions of it. Repeatable.",
        ),
        click.option("--execute", is_flag=True, help="Write the offsets; without it none changes."),
        click.option(
            "--cluster", metavar="NAME", help="The cluster's name in the tables. [cluster.id]"
        ),
        bootstrap_server_option("The cluster of the groups. [bootstrap.servers]"),
        command_config_option,
        bootstrap_server_option(
            "Write to the groups of this other cluster, by Kafka's own API.",
            "--to-bootstrap-server",
        ),
        to_command_config,
        click.option(
            "--map",
            "mapping",
            type=click.Choice(["same", "timestamp"]),
            help="In the other cluster: the same offsets, or by the records' timestamps. [default: same]",
        ),
        format_option(FORMATS, default="table"),
        click.option("--tables", metavar="FOLDER", help="The folder of the tables. [tables.root]"),
        settings_options,
    )
    return with_options(function, options)


@click.command()
@_restore_options
@click.pass_context
def command(context: click.Context, /, **given: Any) -> None:
    """Put committed offsets back as they were at an earlier time.

    The offsets of then come from the tables: from the log's whole history, for any time since its first record. The
    command shows the offsets now, then, and after the restore; only --execute writes them. It is safe to repeat.

    \b
    offset_now    the committed offset; empty: none
    offset_then   the offset at that time; empty: none, and the present offset stays
    new_offset    the offset after the restore: that of then, or the nearest that the log still has
    written       the new offset was committed: only with --execute
    note          the reason of another offset, or of none; an error of a partition, with status 1

    A group must be Empty, or not exist: members would commit over restored offsets. Metadata and leader epochs are
    restored with the offsets. A mirrored cluster is written by Kafka's own API. Groups that the job coordinates are
    restored by an event, and the view audit has the restore with the user of the login.

    --before-reset undoes a reset: all offsets of the group are as they were just before it. Standard error has the
    reset's time and principal: if they are those of an earlier reset, the mirror has not read the newest one yet.

    With --to-bootstrap-server the groups of another cluster are written, such as a standby. --map timestamp reads the
    timestamp of the record at each offset, and takes the other cluster's first record with this or a later timestamp.

    \b
    Examples:
      group-coordinator restore --group billing --as-of 2024-01-02T03:04:05Z
      group-coordinator restore --group billing --before-reset --execute
      group-coordinator restore --group billing --topic orders:0,1 --as-of "2024-01-02 03:04" --execute
      group-coordinator restore --cluster eu-1 --bootstrap-server kafka-1:9092 --group billing --before-reset
      group-coordinator restore --group billing --as-of 2024-01-02T03:04:05Z --to-bootstrap-server standby:9092
        --map timestamp --execute
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    request = _request(**given)
    try:
        restored = _restored(request)
    except ClientError as error:
        raise click.ClickException(str(error)) from error
    show(_table(restored), FORMATS, given["printed"], None)
    if not request.is_executed and any(row.target is not None for row in restored):
        click.echo("Nothing was written: add --execute to write the new offsets.", err=True)
    context.exit(1 if any(row.is_failed for row in restored) else 0)


class _Request(NamedTuple):
    """Restore with the options of a command line; `to` None: into the groups' own cluster."""

    settings: Settings
    past: PastTables
    connection: Connection
    as_of: datetime | None
    to: Connection | None
    is_by_timestamp: bool
    is_executed: bool


def _request(
    *,
    group_ids: Sequence[str],
    as_of: datetime | None,
    before_reset: bool,
    topics: Sequence[str],
    execute: bool,
    cluster: str | None,
    bootstrap_server: str | None,
    command_config: Path | None,
    to_bootstrap_server: str | None,
    to_command_config: Path | None,
    mapping: str | None,
    tables: str | None,
    config: Path | None,
    overrides: tuple[str, ...],
    printed: str,  # noqa: ARG001 - for the table alone
) -> _Request:
    if (as_of is None) is not before_reset:
        raise click.UsageError("give one of --as-of TIME and --before-reset")
    if to_bootstrap_server is None and (mapping or to_command_config):
        raise click.UsageError("--map and --to-command-config need --to-bootstrap-server")
    named = {
        "bootstrap.servers": bootstrap_server,
        "cluster.id": cluster,
        "tables.root": tables,
    }
    from_options = [f"{key}={value}" for key, value in named.items() if value is not None]
    settings = load(config, [*overrides, *from_options])
    job, login = settings.job, client_options(command_config)
    to = None
    if to_bootstrap_server is not None:
        origin = to_command_config or command_config
        to = connection_of(to_bootstrap_server, job.security, client_options(origin), origin)
    return _Request(
        settings,
        PastTables(
            job.tables_root, job.cluster_id, list(dict.fromkeys(group_ids)), topics_of(topics)
        ),
        connection_of(job.bootstrap_servers, job.security, login, command_config),
        as_of,
        to,
        is_by_timestamp=mapping == "timestamp",
        is_executed=execute,
    )


def _restored(request: _Request) -> list[RestoredOffset]:
    past = request.past
    times = _times(request)
    with _group_offsets(request) as groups:
        check_inactive(groups, past.group_ids)
        plan = _plan(request, groups, past.offsets(times, request.settings.coordinator))
        return executed(groups, plan) if request.is_executed else plan


def _times(request: _Request) -> dict[str, datetime]:
    """Time of each group's offsets."""
    if request.as_of is not None:
        return dict.fromkeys(request.past.group_ids, request.as_of)
    resets = request.past.newest_resets()
    unknown = [group for group in request.past.group_ids if group not in resets]
    if unknown:
        raise NotRestorableError(
            f"the view audit has no reset or rewind of {', '.join(unknown)} in cluster {request.past.cluster_id}: "
            "give a time by --as-of, or repeat the command when the tables have the reset"
        )
    for group, reset in resets.items():
        click.echo(
            f"{group}: as of {cell_text(reset.time_before)}, before a {reset.change} of {reset.partitions} partitions by "
            f"{reset.principal or 'a principal that the tables do not know'}",
            err=True,
        )
    return {group: reset.time_before for group, reset in resets.items()}


@contextmanager
def _group_offsets(request: _Request) -> Iterator[GroupOffsets]:
    """Open the groups that are written: those of brokers, or those of the job."""
    job, owner = request.settings.job, request.past.owner()
    if request.to is not None or owner.is_mirror:
        yield KafkaGroups(request.to or request.connection)
        return
    if owner.events_topic != job.events_topic:
        raise NotRestorableError(
            f"events.topic = {job.events_topic} is not the topic of the job that coordinates cluster.id = "
            f"{job.cluster_id}: set events.topic to {owner.events_topic}, and responses.topic to that of the job"
        )
    with admin_of(job, request.connection, job.request_timeout_ms) as admin:
        yield JobGroups(admin)


def _plan(
    request: _Request, groups: GroupOffsets, then: dict[str, dict[TopicPartition, PastOffset]]
) -> list[RestoredOffset]:
    now = groups.committed(list(then))
    with closing(Cluster(request.to or request.connection)) as cluster:
        plans = [_group_plan(request, cluster, group, now[group], then[group]) for group in then]
        partitions = {one for plan in plans for one in (*plan.now, *plan.then)}
        logs = logs_of(cluster, partitions)
    return [row for plan in plans for row in planned(plan, logs)]


def _group_plan(
    request: _Request,
    cluster: Cluster,
    group_id: str,
    now: Offsets,
    then: Mapping[TopicPartition, PastOffset],
) -> GroupPlan:
    past = request.past
    wanted: Offsets = {one: offset.committed for one, offset in then.items()}
    if request.to is not None:
        wanted = with_same_offsets(then)
        # A topic has another id in each cluster.
        then = {one: offset._replace(topic_id=None) for one, offset in then.items()}
        if request.is_by_timestamp:
            wanted = with_mapped_offsets(request.connection, cluster, then)
    now = {one: offset for one, offset in now.items() if is_chosen(one, past.topics)}
    if not now and not then:
        raise NotRestorableError(
            f"group {group_id} of cluster {past.cluster_id} has no offsets to restore, now or then: see if the names "
            "of group, cluster and topics are right"
        )
    return GroupPlan(group_id, now, then, wanted)


def _table(restored: Sequence[RestoredOffset]) -> pa.Table:
    rows = [
        {
            "group_id": row.group_id,
            "topic": row.partition.topic,
            "partition": row.partition.partition,
            "offset_now": row.now,
            "offset_then": row.then,
            "new_offset": row.new_offset,
            "written": row.is_written,
            "note": row.note or None,
        }
        for row in restored
    ]
    return pa.Table.from_pylist(rows, SCHEMA)
