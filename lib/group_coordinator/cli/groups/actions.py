"""Actions of `groups`: each prints its outcome and returns True if all of it succeeded."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cached_property
from typing import Self

import click
from kafka import TopicPartition

from group_coordinator.cli.groups import describe
from group_coordinator.cli.groups import output as layout
from group_coordinator.cli.groups.output import Output, show_table
from group_coordinator.cli.groups.usage import TopicChoice
from group_coordinator.clients.admin.client import AdminClient
from group_coordinator.clients.admin.descriptions import GroupDescription
from group_coordinator.clients.cluster.cluster import Cluster
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.errors import (
    ClientError,
    CoordinatorResponseError,
    UnknownTopicOrPartitionError,
)
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.topics import InvalidPatternError, check_pattern


class ActionContext:
    """Coordinator, brokers, and output of an action. The brokers are connected at the first use."""

    def __init__(self, admin: AdminClient, connection: Connection, output: Output) -> None:
        self.admin = admin
        self.output = output
        self._connection = connection

    @cached_property
    def cluster(self) -> Cluster:
        return Cluster(self._connection)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        # The property may never have been used.
        if "cluster" in self.__dict__:
            self.cluster.close()
        self.admin.close()


_GROUP_LEVEL = frozenset(
    {
        ErrorCode.INVALID_GROUP_ID,
        ErrorCode.GROUP_ID_NOT_FOUND,
        ErrorCode.GROUP_AUTHORIZATION_FAILED,
        ErrorCode.NON_EMPTY_GROUP,
    }
)
_PARTITION_LEVEL = frozenset(
    {
        ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC,
        ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }
)
FAILED = "Executing consumer group command failed due to "
UNKNOWN_PARTITION = -1
"""Kafka's partition number for a topic that does not exist."""


def print_error(message: str) -> None:
    """Print an error in the words of Kafka's tool, but to stderr: Kafka prints it to stdout."""
    click.echo(f"\nError: {message}", err=True)


def print_failure(error: ClientError) -> None:
    print_error(f"{FAILED}{error.kafka_text}")


def print_failure_of_group(group: str, error: ClientError) -> None:
    # Kafka's fixed messages never name a group, even if they contain its letters.
    is_named = group and group in str(error) and str(error) != type(error).__doc__
    print_error(f"{FAILED}{error.kafka_text}" + ("" if is_named else f" (group '{group}')"))


def list_groups(
    session: ActionContext,
    is_wanted: Callable[[str], bool],
    states: Collection[str] | None,
    types: Collection[str] | None,
) -> bool:
    """Print names, or a table with states or types (None: without them, empty: all values) for `--list`."""
    listings = [
        listing
        for listing in session.admin.list_consumer_groups(states, types)
        if is_wanted(listing.group_id)
    ]
    asked = {"state": states, "type": types}
    wanted = frozenset(name for name, values in asked.items() if values is not None)
    columns = layout.LISTING[wanted]
    if wanted:
        session.output.say(layout.table(columns, listings))
    else:
        for listing in listings:
            session.output.say(listing.group_id)
    session.output.record(columns, listings)
    return True


def describe_offsets(
    session: ActionContext,
    groups: Collection[str],
    columns: Sequence[layout.TextColumn],
    is_wanted: Callable[[describe.OffsetLine], bool],
) -> bool:
    descriptions = session.admin.describe_consumer_groups(groups)
    # Groups with an error have no rows.
    living = _living(descriptions.values())
    offsets = session.admin.list_offsets_of_groups([group.group_id for group in living])
    ends = session.cluster.end_offsets(
        {partition for committed in offsets.values() for partition in committed}
        # Assigned partitions without a commit have a row too.
        | {partition for group in living for partition in describe.assigned_partitions(group)}
    )
    for group in living:
        every = describe.offset_rows(group, offsets[group.group_id], ends)
        rows = [row for row in every if is_wanted(row)]
        if rows or not every:
            _print_notice(group)
        if rows:
            show_table(session.output, columns, rows)
    return _print_failures(descriptions.values())


def describe_members(
    session: ActionContext, groups: Collection[str], last: Sequence[layout.TextColumn]
) -> bool:
    descriptions = session.admin.describe_consumer_groups(groups)
    for group in _living(descriptions.values()):
        _print_notice(group)
        rows = describe.member_rows(group)
        show_table(session.output, layout.member_columns(rows, last), rows)
    return _print_failures(descriptions.values())


def describe_states(
    session: ActionContext, groups: Collection[str], columns: Sequence[layout.TextColumn]
) -> bool:
    admin = session.admin
    descriptions = admin.describe_consumer_groups(groups)
    living = _living(descriptions.values())
    names = [group.group_id for group in living]
    leaders = session.cluster.leaders_of_keys(admin.events_topic, names)
    for group in living:
        _print_notice(group)
        row = describe.StateRow(group, leaders.get(group.group_id))
        show_table(session.output, columns, [row])
    return _print_failures(descriptions.values())


def _living(groups: Collection[GroupDescription]) -> list[GroupDescription]:
    return sorted(
        (group for group in groups if group.error is None), key=lambda group: group.group_id
    )


def _print_notice(group: GroupDescription) -> None:
    notice = describe.notice(group)
    if notice is not None:
        click.echo(notice, err=True)


def _print_failures(groups: Collection[GroupDescription]) -> bool:
    # Errors follow the tables, so that a wrong name does not hide the other groups as in Kafka's tool.
    failed = {group.group_id: group.error for group in groups if group.error is not None}
    for group, error in failed.items():
        print_failure_of_group(group, error)
    return not failed


def delete_groups(session: ActionContext, groups: Collection[str]) -> bool:
    results = session.admin.delete_consumer_groups(groups)
    failed = {group: error for group, error in results.errors.items() if error is not None}
    deleted = [group for group in results if group not in failed]
    session.output.record(layout.DELETIONS, list(results.errors.items()))
    if not failed:
        session.output.say(
            f"Deletion of requested consumer groups ({describe.quoted(deleted)}) was successful."
        )
        return True
    print_error("Deletion of some consumer groups failed:")
    for group, error in failed.items():
        click.echo(f"* Group '{group}' could not be deleted due to: {error.kafka_text}", err=True)
    if deleted:
        session.output.say(
            f"\nThese consumer groups were deleted successfully: {describe.quoted(deleted)}"
        )
    return False


def delete_offsets(session: ActionContext, group: str, topics: Collection[TopicChoice]) -> bool:
    # Kafka deletes by partition, so whole topics are expanded here.
    whole_topics = [choice.topic for choice in topics if choice.partitions is None]
    known = _partitions_of_topics(session, group, whole_topics)
    results = session.admin.delete_consumer_group_offsets(
        group,
        [
            TopicPartition(choice.topic, number)
            for choice in topics
            for number in choice.partitions or known.get(choice.topic) or ()
        ],
    )
    unknown = [
        TopicPartition(topic, UNKNOWN_PARTITION) for topic in whole_topics if topic not in known
    ]
    errors = {**{one: UnknownTopicOrPartitionError() for one in unknown}, **results.errors}
    first = results.group_error or next((error for error in errors.values() if error), None)
    if first is None:
        session.output.say(f"Request succeeded for deleting offsets from group {group}.")
    else:
        print_error(_summary(first))
    show_table(session.output, layout.PARTITION_STATUSES, describe.partition_statuses(errors))
    return first is None


def _partitions_of_topics(
    session: ActionContext, group: str, topics: Collection[str]
) -> dict[str, list[int]]:
    """Partitions of each topic; of a deleted topic, the partitions with offsets of the group."""
    known = {
        topic: sorted(numbers) for topic, numbers in session.cluster.partitions(topics).items()
    }
    if known.keys() >= set(topics):
        return known
    committed: dict[str, list[int]] = {}
    for topic, number in sorted(session.admin.list_offsets_of_groups([group])[group]):
        if topic in topics:
            committed.setdefault(topic, []).append(number)
    return {**committed, **known}


def _summary(error: ClientError) -> str:
    """Summary of Kafka's tool above the table, by the first error."""
    if not isinstance(error, CoordinatorResponseError) or error.code in _GROUP_LEVEL:
        return str(error)
    if error.code in _PARTITION_LEVEL:
        return "Encountered some partition-level error, see the follow-up details."
    return f"Encountered some unknown error: {error.code_name}"


def validate_regex(regex: str) -> bool:
    try:
        check_pattern(regex)
    except InvalidPatternError as error:
        click.echo(f"The regular expression `{regex}` is invalid: {error.description}.")
        return False
    click.echo(f"The regular expression `{regex}` is valid.")
    return True
