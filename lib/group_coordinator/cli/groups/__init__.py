"""`group-coordinator groups`: Kafka's kafka-consumer-groups for the groups of this coordinator."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import click

from group_coordinator import settings
from group_coordinator.cli.client_properties.options import client_options, connection_of
from group_coordinator.cli.groups import actions, describe, reset, usage
from group_coordinator.cli.groups.options import Options, aim_of, groups_options, shown_by
from group_coordinator.cli.groups.output import FORMATS, ActionContext, print_failure
from group_coordinator.cli.shared_options import command_config_option, settings_options
from group_coordinator.clients.admin.client import AdminClient
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.errors import ClientError
from group_coordinator.core.topics import InvalidPatternError, check_pattern, matching_names
from group_coordinator.settings import JobSettings


@click.command()
@groups_options
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
    """List, describe, delete and reset groups.

    Options and output are those of Kafka's kafka-consumer-groups. Errors go to standard error, and the exit status is 1
    if there was an error.

    \b
    Examples:
      group-coordinator groups --list --state stable,empty
      group-coordinator groups --describe --group billing
      group-coordinator groups --describe --all-groups --only-with-lag -o json
      group-coordinator groups --delete --regex 'console-consumer-[0-9]+'
      group-coordinator groups --delete-offsets --group billing --topic orders:0,1 --topic refunds
      group-coordinator groups --reset-offsets --group billing --all-topics --by-duration PT1H
      group-coordinator groups --reset-offsets --group billing --topic orders --to-earliest --execute
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    choices = {name.replace("_", "-"): value for name, value in options.items()}
    action = usage.check(choices)
    # This action needs no cluster.
    if action == "validate-regex":
        context.exit(0 if actions.validate_regex(choices["validate-regex"]) else 1)
    job = settings.load(config, overrides).job
    given = client_options(command_config)
    servers = bootstrap_server or job.bootstrap_servers
    connection = connection_of(servers, job.security, given, command_config)
    admin = admin_of(job, connection, timeout or job.request_timeout_ms)
    output = FORMATS[choices["output"]]()
    try:
        with ActionContext(admin, connection, output) as session:
            went_well = _ACTIONS[action](session, choices)
    except ClientError as error:
        print_failure(error)
        went_well = False
    output.end()
    context.exit(0 if went_well else 1)


def admin_of(job: JobSettings, connection: Connection, timeout_ms: int) -> AdminClient:
    return AdminClient(
        bootstrap_servers=connection.bootstrap_servers,
        events_topic=job.events_topic,
        responses_topic=job.responses_topic,
        tables_root=job.tables_root,
        cluster_id=job.cluster_id,
        request_timeout_ms=timeout_ms,
        client_options=connection.options,
    )


def _is_chosen(options: Options) -> Callable[[str], bool]:
    """Return a filter for groups by --regex; without the option it accepts all groups."""
    regex = options["regex"]
    if regex is None:
        return lambda _: True
    try:
        check_pattern(regex)
    except InvalidPatternError as error:
        raise click.UsageError(
            f"The regular expression `{regex}` is invalid: {error.description}."
        ) from error
    return lambda group: bool(matching_names(regex, [group]))


def _chosen(admin: AdminClient, options: Options) -> Collection[str]:
    """Groups of the command; the tables have the groups for all groups or a pattern."""
    if options["all-groups"] or options["regex"] is not None:
        is_wanted = _is_chosen(options)
        listed = [listing.group_id for listing in admin.list_consumer_groups()]
        return [group for group in listed if is_wanted(group)]
    # A repeated option counts once.
    groups: Collection[str] = dict.fromkeys(options["group"])
    return groups


def _list(session: ActionContext, options: dict[str, Any]) -> bool:
    states, types = usage.states(options["state"]), usage.types(options["type"])
    return actions.list_groups(session, _is_chosen(options), states, types)


def _describe(session: ActionContext, options: dict[str, Any]) -> bool:
    groups = _chosen(session.admin, options)
    verbose = options["verbose"]
    if options["members"]:
        assignments = describe.ASSIGNMENTS if verbose else describe.END_OF_LINE
        return describe.describe_members(session, groups, assignments)
    if options["state"] is not None:
        states = describe.STATES_VERBOSE if verbose else describe.STATES
        return describe.describe_states(session, groups, states)
    offsets = describe.OFFSETS_VERBOSE if verbose else describe.OFFSETS
    is_wanted = describe.has_lag if options["only-with-lag"] else lambda _: True
    return describe.describe_offsets(session, groups, offsets, is_wanted)


def _delete(session: ActionContext, options: dict[str, Any]) -> bool:
    return actions.delete_groups(session, _chosen(session.admin, options))


def _reset_offsets(session: ActionContext, options: dict[str, Any]) -> bool:
    if not options["dry-run"] and not options["execute"]:
        # As in Kafka's tool, a reset without --execute is a dry run.
        click.echo(reset.DRY_RUN, err=True)
    request = reset.ResetRequest(aim_of(options), options["execute"], shown_by(options))
    return reset.reset_offsets(session, _chosen(session.admin, options), request)


def _delete_offsets(session: ActionContext, options: dict[str, Any]) -> bool:
    topics = [usage.topic_choice(text) for text in options["topic"]]
    return actions.delete_offsets(session, options["group"][0], topics)


_ACTIONS = {
    "list": _list,
    "describe": _describe,
    "delete": _delete,
    "reset-offsets": _reset_offsets,
    "delete-offsets": _delete_offsets,
}
