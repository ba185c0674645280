"""`group-coordinator restore`: committed offsets as they were at an earlier time.

`import` shares the groups that are written (`RestoreTarget`) with their options, the steps of a restore, and the table of its result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import click
import pyarrow as pa

from group_coordinator.cli.client_properties.options import client_options, connection_of
from group_coordinator.cli.groups import admin_of
from group_coordinator.cli.groups.options import topics_of
from group_coordinator.cli.query_output import FORMATS as PLAIN_FORMATS
from group_coordinator.cli.query_output import cell_text, format_option, print_table, show
from group_coordinator.cli.shared_options import (
    Function,
    bootstrap_server_option,
    command_config_option,
    settings_options,
    time_of,
    with_options,
)
from group_coordinator.clients.cluster.cluster import Cluster
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.errors import ClientError, NotRestorableError
from group_coordinator.clients.past_offsets import (
    PastOffsets,
    PastTables,
    Topics,
    is_chosen,
    owner_of,
)
from group_coordinator.clients.restore import (
    GroupOffsets,
    GroupPlan,
    JobGroups,
    KafkaGroups,
    Offsets,
    RestoredOffset,
    check_inactive,
    executed,
    for_another_cluster,
    logs_of,
    planned,
    with_mapped_offsets,
)
from group_coordinator.report.phrases import name_text
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


def target_options(function: Function) -> Function:
    """Add the options of the groups that are written: the keyword arguments of `target_of`."""
    to_command_config = click.option(
        "--to-command-config",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="A file of Kafka's client properties for --to-bootstrap-server. [--command-config]",
    )
    options = (
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
        format_option(FORMATS, default="table"),
        click.option("--tables", metavar="FOLDER", help="The folder of the tables. [tables.root]"),
        settings_options,
    )
    return with_options(function, options)


class RestoreTarget(NamedTuple):
    """Groups that are written, with the options of a command line; `other` None: those of the cluster in the tables."""

    settings: Settings
    topics: Topics
    connection: Connection
    other: Connection | None
    is_executed: bool
    printed: str
    lack: str = GroupPlan._field_defaults["lack"]


def target_of(
    *,
    topics: Sequence[str],
    execute: bool,
    cluster: str | None,
    bootstrap_server: str | None,
    command_config: Path | None,
    to_bootstrap_server: str | None,
    to_command_config: Path | None,
    printed: str,
    tables: str | None,
    config: Path | None,
    overrides: tuple[str, ...],
) -> RestoreTarget:
    if to_bootstrap_server is None and to_command_config:
        raise click.UsageError("--to-command-config needs --to-bootstrap-server")
    named = {"bootstrap.servers": bootstrap_server, "cluster.id": cluster, "tables.root": tables}
    from_options = [f"{key}={value}" for key, value in named.items() if value is not None]
    settings = load(config, [*overrides, *from_options])
    job, login = settings.job, client_options(command_config)
    other = None
    if to_bootstrap_server is not None:
        origin = to_command_config or command_config
        # A file is read once: it may be a pipe, and its warnings are printed.
        to_login = client_options(to_command_config) if to_command_config else login
        other = connection_of(to_bootstrap_server, job.security, to_login, origin)
    connection = connection_of(job.bootstrap_servers, job.security, login, command_config)
    return RestoreTarget(
        settings, topics_of(topics), connection, other, is_executed=execute, printed=printed
    )


Restoring: TypeAlias = Callable[[], list[RestoredOffset]]


def show_restored(context: click.Context, target: RestoreTarget, restoring: Restoring) -> None:
    """Restore, print the table of the result, and end the command; an error of a partition gives status 1."""
    try:
        restored = restoring()
    except ClientError as error:
        raise click.ClickException(str(error)) from error
    show(_table(restored), FORMATS, target.printed, None)
    if not target.is_executed and any(row.target is not None for row in restored):
        click.echo("Nothing was written: add --execute to write the new offsets.", err=True)
    context.exit(1 if any(row.is_failed for row in restored) else 0)


def restored_groups(
    target: RestoreTarget, then: Mapping[str, PastOffsets], source: Connection | None = None
) -> list[RestoredOffset]:
    """Restore the offsets of each group. `source` has the records whose timestamps are mapped; None: the offsets stay the same.

    Raises NotRestorableError: a group has members or no offsets; ChannelError.
    """
    if target.other is not None:
        then = {group_id: for_another_cluster(offsets) for group_id, offsets in then.items()}
    with _group_offsets(target) as groups:
        check_inactive(groups, list(then), name_text)
        now = {
            group_id: {one: at for one, at in offsets.items() if is_chosen(one, target.topics)}
            for group_id, offsets in groups.committed(list(then)).items()
        }
        _check_names(target, now, then)
        plan = _plan(target, now, then, source)
        return executed(groups, plan) if target.is_executed else plan


@contextmanager
def _group_offsets(target: RestoreTarget) -> Iterator[GroupOffsets]:
    """Open the groups that are written: those of brokers, or those of the job."""
    job = target.settings.job
    # Another cluster needs no tables.
    owner = None if target.other else owner_of(job.tables_root, job.cluster_id)
    if owner is None or owner.is_mirror:
        with closing(KafkaGroups(target.other or target.connection)) as groups:
            yield groups
        return
    if owner.events_topic != job.events_topic:
        raise NotRestorableError(
            f"events.topic = {job.events_topic} is not the topic of the job that coordinates cluster.id = "
            f"{job.cluster_id}: set events.topic to {owner.events_topic}, and responses.topic to that of the job"
        )
    with admin_of(job, target.connection, job.request_timeout_ms) as admin:
        yield JobGroups(admin)


def _check_names(
    target: RestoreTarget, now: Mapping[str, Offsets], then: Mapping[str, PastOffsets]
) -> None:
    for group_id, offsets in then.items():
        if not now[group_id] and not offsets:
            raise NotRestorableError(
                f"group {name_text(group_id)} of cluster {target.settings.job.cluster_id} has no offsets to restore, now or then: "
                "see if the names of group, cluster and topics are right"
            )


def _plan(
    target: RestoreTarget,
    now: Mapping[str, Offsets],
    then: Mapping[str, PastOffsets],
    source: Connection | None,
) -> list[RestoredOffset]:
    with closing(Cluster(target.other or target.connection)) as cluster:
        plans = [
            GroupPlan(group_id, now[group_id], past, _wanted(past, source, cluster), target.lack)
            for group_id, past in then.items()
        ]
        partitions = {one for plan in plans for one in (*plan.now, *plan.then)}
        logs = logs_of(cluster, partitions)
    return [row for plan in plans for row in planned(plan, logs)]


def _wanted(past: PastOffsets, source: Connection | None, cluster: Cluster) -> Offsets:
    if source is not None:
        return with_mapped_offsets(source, cluster, past)
    return {one: offset.committed for one, offset in past.items()}


@click.command()
@click.option(
    "--group",
    "group_ids",
    multiple=True,
    required=True,
    metavar="GROUP",
    help="A group to restore. Repeatable.",
)
@click.option(
    "--as-of",
    type=time_of,
    metavar="TIME",
    help="The time of the offsets: 2024-01-02T03:04:05Z, or in UTC 2024-01-02 03:04.",
)
@click.option(
    "--before-reset",
    is_flag=True,
    help="Instead of --as-of: just before each group's newest reset or rewind (view audit).",
)
@click.option(
    "--map",
    "mapping",
    type=click.Choice(["same", "timestamp"]),
    help="In the other cluster: the same offsets, or by the records' timestamps. [default: same]",
)
@target_options
@click.pass_context
def command(
    context: click.Context,
    /,
    *,
    group_ids: Sequence[str],
    as_of: datetime | None,
    before_reset: bool,
    mapping: str | None,
    **given: Any,
) -> None:
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
    if (as_of is None) is not before_reset:
        raise click.UsageError("give one of --as-of TIME and --before-reset")
    target = target_of(**given)
    if target.other is None and mapping:
        raise click.UsageError("--map needs --to-bootstrap-server")
    job, groups = target.settings.job, list(dict.fromkeys(group_ids))
    past = PastTables(job.tables_root, job.cluster_id, groups, target.topics)
    source = target.connection if mapping == "timestamp" else None

    def restored() -> list[RestoredOffset]:
        times = _times(past, as_of)
        return restored_groups(target, past.offsets(times, target.settings.coordinator), source)

    show_restored(context, target, restored)


def _times(past: PastTables, as_of: datetime | None) -> dict[str, datetime]:
    """Time of each group's offsets."""
    if as_of is not None:
        return dict.fromkeys(past.group_ids, as_of)
    resets = past.newest_resets()
    unknown = [group for group in past.group_ids if group not in resets]
    if unknown:
        raise NotRestorableError(
            f"the view audit has no reset or rewind of {', '.join(map(name_text, unknown))} in cluster {past.cluster_id}: "
            "give a time by --as-of, or repeat the command when the tables have the reset"
        )
    for group, reset in resets.items():
        click.echo(
            f"{name_text(group)}: as of {cell_text(reset.time_before)}, before a {reset.change} of {reset.partitions} partitions by "
            f"{reset.principal or 'a principal that the tables do not know'}",
            err=True,
        )
    return {group: reset.time_before for group, reset in resets.items()}


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
