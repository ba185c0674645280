"""`group-coordinator groups`: what Kafka's kafka-consumer-groups does, for the groups of this coordinator."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import closing
from pathlib import Path
from typing import Any

import click

from group_coordinator import settings
from group_coordinator.cli.groups import actions, usage
from group_coordinator.cli.groups import format as layout
from group_coordinator.cli.groups.client_properties import client_options
from group_coordinator.cli.login_option import command_config_option
from group_coordinator.cli.settings_options import settings_options
from group_coordinator.clients.admin.client import AdminClient
from group_coordinator.clients.cluster.cluster import Cluster
from group_coordinator.clients.cluster.connection import Connection, login_options
from group_coordinator.clients.errors import ClientError


@click.command()
@click.option("--list", is_flag=True, help="List the groups, as of the last compaction.")
@click.option("--describe", is_flag=True, help="Describe groups, asking the running job.")
@click.option("--delete", is_flag=True, help="Delete groups without members, with their offsets.")
@click.option(
    "--delete-offsets",
    is_flag=True,
    help="Delete a group's offsets of topics that it does not read.",
)
@click.option("--group", multiple=True, help="A group to describe or delete. Repeatable.")
@click.option("--all-groups", is_flag=True, help="All groups of the tables instead.")
@click.option(
    "--topic",
    multiple=True,
    metavar="TOPIC[:P,P]",
    help="With --delete-offsets: a topic, or some partitions of it. Repeatable.",
)
@click.option("--offsets", is_flag=True, help="With --describe: offsets and lag (the default).")
@click.option("--members", is_flag=True, help="With --describe: the members.")
@click.option(
    "--state",
    is_flag=False,
    flag_value="",
    metavar="[STATES]",
    help="With --describe: the state. With --list: show states, or only groups in these states.",
)
@click.option(
    "--type",
    is_flag=False,
    flag_value="",
    metavar="[TYPES]",
    help="With --list: show types, or only groups of these types (classic, consumer).",
)
@click.option("--verbose", is_flag=True, help="With --describe: more columns.")
@click.option(
    "--bootstrap-server", metavar="HOST:PORT", help="The Kafka cluster. [bootstrap.servers]"
)
@click.option(
    "--timeout",
    type=click.IntRange(min=1),
    metavar="MS",
    help="How long to wait for an answer. [request.timeout.ms]",
)
@command_config_option
@settings_options
@click.pass_context
def command(
    context: click.Context,
    /,
    bootstrap_server: str | None,
    timeout: int | None,
    command_config: Path | None,
    config: Path | None,
    overrides: tuple[str, ...],
    **options: Any,
) -> None:
    """List, describe and delete groups.

    Options and output are those of Kafka's kafka-consumer-groups; errors go to standard error, and
    the exit status is 1 when something was refused.

    \b
    Examples:
      group-coordinator groups --list --state stable,empty
      group-coordinator groups --describe --group billing
      group-coordinator groups --describe --all-groups --members --verbose
      group-coordinator groups --delete --group old --group older
      group-coordinator groups --delete-offsets --group billing --topic orders:0,1 --topic refunds
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    choices = {name.replace("_", "-"): value for name, value in options.items()}
    action = usage.check(choices)
    job = settings.load(config, overrides).job
    login = {**login_options(job.security), **client_options(command_config)}
    connection = Connection(bootstrap_server or job.bootstrap_servers, login)
    admin = AdminClient(
        bootstrap_servers=connection.bootstrap_servers,
        events_topic=job.events_topic,
        responses_topic=job.responses_topic,
        tables_root=job.tables_root,
        cluster_id=job.cluster_id,
        request_timeout_ms=timeout or job.request_timeout_ms,
        client_options=connection.options,
    )
    try:
        with admin:
            went_well = _ACTIONS[action](admin, connection, choices)
    except ClientError as error:
        actions.print_failure(error)
        went_well = False
    context.exit(0 if went_well else 1)


def _list(admin: AdminClient, _: Connection, options: dict[str, Any]) -> bool:
    return actions.list_groups(admin, usage.states(options["state"]), usage.types(options["type"]))


def _describe(admin: AdminClient, connection: Connection, options: dict[str, Any]) -> bool:
    groups = _groups(admin, options)
    verbose = options["verbose"]
    if options["members"]:
        return actions.describe_members(
            admin, groups, layout.ASSIGNMENTS if verbose else layout.END_OF_LINE
        )
    with closing(Cluster(connection)) as cluster:
        if options["state"] is not None:
            states = layout.STATES_VERBOSE if verbose else layout.STATES
            return actions.describe_states(admin, cluster, groups, states)
        offsets = layout.OFFSETS_VERBOSE if verbose else layout.OFFSETS
        return actions.describe_offsets(admin, cluster, groups, offsets)


def _delete(admin: AdminClient, _: Connection, options: dict[str, Any]) -> bool:
    return actions.delete_groups(admin, _groups(admin, options))


def _delete_offsets(admin: AdminClient, connection: Connection, options: dict[str, Any]) -> bool:
    topics = [usage.topic_choice(text) for text in options["topic"]]
    with closing(Cluster(connection)) as cluster:
        return actions.delete_offsets(admin, cluster, options["group"][0], topics)


def _groups(admin: AdminClient, options: dict[str, Any]) -> Collection[str]:
    if options["all-groups"]:
        return [listing.group_id for listing in admin.list_consumer_groups()]
    groups: Collection[str] = options["group"]
    return groups


_ACTIONS = {
    "list": _list,
    "describe": _describe,
    "delete": _delete,
    "delete-offsets": _delete_offsets,
}
