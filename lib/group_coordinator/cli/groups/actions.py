"""What `groups` does: each action prints its outcome and returns whether all of it succeeded."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import click
from kafka import TopicPartition

from group_coordinator.cli.groups import describe
from group_coordinator.cli.groups import format as layout
from group_coordinator.cli.groups.usage import TopicChoice
from group_coordinator.clients.admin.client import AdminClient
from group_coordinator.clients.admin.descriptions import GroupDescription
from group_coordinator.clients.cluster.cluster import Cluster
from group_coordinator.clients.errors import (
    ClientError,
    CoordinatorResponseError,
    UnknownTopicOrPartitionError,
)
from group_coordinator.core.model.errors import ErrorCode

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
UNKNOWN_PARTITION = -1
"""Kafka's mark for a topic that does not exist."""


def print_error(message: str) -> None:
    """An error as Kafka's tool words it; Kafka prints it to stdout."""
    click.echo(f"\nError: {message}", err=True)


def print_failure(error: ClientError) -> None:
    """The command as a whole, or one group of it, failed."""
    print_error(f"Executing consumer group command failed due to {error.kafka_text}")


def list_groups(
    admin: AdminClient,
    states: Collection[str] | None,
    types: Collection[str] | None,
) -> bool:
    """`--list`: names only, or a table where states or types (None: not asked for, empty: all) are wanted."""
    listings = admin.list_consumer_groups(states, types)
    asked = {"state": states, "type": types}
    columns = frozenset(name for name, values in asked.items() if values is not None)
    if columns:
        click.echo(layout.table(layout.LISTING[columns], listings))
    else:
        for listing in listings:
            click.echo(listing.group_id)
    return True


def describe_offsets(
    admin: AdminClient, cluster: Cluster, groups: Collection[str], columns: Sequence[layout.Column]
) -> bool:
    """`--describe --offsets`."""
    descriptions = admin.describe_consumer_groups(groups)
    living = _living(descriptions.values())
    offsets = admin.list_offsets_of_groups([group.group_id for group in living])
    ends = cluster.end_offsets(
        {partition for committed in offsets.values() for partition in committed}
        | {partition for group in living for partition in describe.assigned_partitions(group)}
    )
    for group in living:
        _print_notice(group)
        rows = describe.offset_rows(group, offsets[group.group_id], ends)
        if rows:
            click.echo(f"\n{layout.table(columns, rows)}")
    return _print_failures(descriptions.values())


def describe_members(
    admin: AdminClient, groups: Collection[str], last: Sequence[layout.Column]
) -> bool:
    """`--describe --members`; the headings come even without members."""
    descriptions = admin.describe_consumer_groups(groups)
    for group in _living(descriptions.values()):
        _print_notice(group)
        rows = describe.member_rows(group)
        click.echo(f"\n{layout.table(layout.member_columns(rows, last), rows)}")
    return _print_failures(descriptions.values())


def describe_states(
    admin: AdminClient, cluster: Cluster, groups: Collection[str], columns: Sequence[layout.Column]
) -> bool:
    """`--describe --state`."""
    descriptions = admin.describe_consumer_groups(groups)
    living = _living(descriptions.values())
    leaders = cluster.leaders_of_keys(admin.events_topic, [group.group_id for group in living])
    for group in living:
        _print_notice(group)
        row = describe.StateRow(group, leaders.get(group.group_id))
        click.echo(f"\n{layout.table(columns, [row])}")
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
    """After the tables, so that one wrong name does not hide the other groups as it does in Kafka's tool."""
    errors = [group.error for group in groups if group.error is not None]
    for error in errors:
        print_failure(error)
    return not errors


def delete_groups(admin: AdminClient, groups: Collection[str]) -> bool:
    """`--delete` (KIP-229)."""
    results = admin.delete_consumer_groups(groups)
    failed = {group: error for group, error in results.errors.items() if error is not None}
    deleted = [group for group in results if group not in failed]
    if not failed:
        click.echo(
            f"Deletion of requested consumer groups ({describe.quoted(deleted)}) was successful."
        )
        return True
    print_error("Deletion of some consumer groups failed:")
    for group, error in failed.items():
        click.echo(f"* Group '{group}' could not be deleted due to: {error.kafka_text}", err=True)
    if deleted:
        click.echo(f"\nThese consumer groups were deleted successfully: {describe.quoted(deleted)}")
    return False


def delete_offsets(
    admin: AdminClient, cluster: Cluster, group: str, topics: Collection[TopicChoice]
) -> bool:
    """`--delete-offsets` (KIP-496)."""
    whole_topics = [choice.topic for choice in topics if choice.partitions is None]
    known = _partitions_of_topics(admin, cluster, group, whole_topics)
    results = admin.delete_consumer_group_offsets(
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
        click.echo(f"Request succeeded for deleting offsets from group {group}.")
    else:
        print_error(_summary(first))
    click.echo(f"\n{layout.table(layout.PARTITION_STATUSES, describe.partition_statuses(errors))}")
    return first is None


def _partitions_of_topics(
    admin: AdminClient, cluster: Cluster, group: str, topics: Collection[str]
) -> dict[str, list[int]]:
    """All partitions of each topic; of one that is no longer there, those that the group has offsets for."""
    known = {topic: sorted(numbers) for topic, numbers in cluster.partitions(topics).items()}
    if known.keys() >= set(topics):
        return known
    committed: dict[str, list[int]] = {}
    for topic, number in sorted(admin.list_consumer_group_offsets(group)):
        if topic in topics:
            committed.setdefault(topic, []).append(number)
    return {**committed, **known}


def _summary(error: ClientError) -> str:
    """What Kafka's tool says above the table, by the first error."""
    if not isinstance(error, CoordinatorResponseError):
        return str(error)
    if error.code in _GROUP_LEVEL:
        return str(error)
    if error.code in _PARTITION_LEVEL:
        return "Encountered some partition-level error, see the follow-up details."
    return f"Encountered some unknown error: {error.code_name}"
