"""Actions of `groups` on lists and deletions: each prints its outcome and returns True if all of it succeeded."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from operator import attrgetter

import click
from kafka import TopicPartition

from group_coordinator.cli.groups.output import ActionContext, TextColumn, print_error, table
from group_coordinator.cli.groups.usage import TopicChoice
from group_coordinator.clients.errors import (
    ClientError,
    CoordinatorResponseError,
    UnknownTopicOrPartitionError,
)
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.topics import InvalidPatternError, check_pattern

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
"""Kafka's partition number for a topic that does not exist."""


_LISTED = TextColumn("GROUP", attrgetter("group_id"), 25, margin=10)
_TYPE = TextColumn("TYPE", lambda listing: listing.group_type.capitalize(), 20)
_STATE = TextColumn("STATE", attrgetter("state"), 20)
LISTING = {
    frozenset[str](): (_LISTED,),
    frozenset({"type"}): (_LISTED, _TYPE),
    frozenset({"state"}): (_LISTED, _STATE),
    frozenset({"type", "state"}): (_LISTED, _TYPE, _STATE),
}
"""Columns of --list by the wanted columns next to the name."""


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
    columns = LISTING[wanted]
    if wanted:
        session.output.say(table(columns, listings))
    else:
        for listing in listings:
            session.output.say(listing.group_id)
    session.output.record(columns, listings)
    return True


def _error(error: ClientError | None) -> str | None:
    return error.kafka_text if error else None


DELETIONS = (
    TextColumn("GROUP", lambda row: row[0]),
    TextColumn("ERROR", lambda row: _error(row[1])),
)
"""Columns of documents only."""


def _quoted(groups: Collection[str]) -> str:
    return ", ".join(f"'{group}'" for group in groups)


def delete_groups(session: ActionContext, groups: Collection[str]) -> bool:
    results = session.admin.delete_consumer_groups(groups)
    failed = {group: error for group, error in results.errors.items() if error is not None}
    deleted = [group for group in results if group not in failed]
    session.output.record(DELETIONS, list(results.errors.items()))
    if not failed:
        session.output.say(
            f"Deletion of requested consumer groups ({_quoted(deleted)}) was successful."
        )
        return True
    print_error("Deletion of some consumer groups failed:")
    for group, error in failed.items():
        click.echo(f"* Group '{group}' could not be deleted due to: {error.kafka_text}", err=True)
    if deleted:
        session.output.say(f"\nThese consumer groups were deleted successfully: {_quoted(deleted)}")
    return False


@dataclass(frozen=True, slots=True)
class PartitionStatus:
    """Result of the deletion of a partition's offset; partition -1 is a topic that does not exist."""

    partition: TopicPartition
    error: ClientError | None

    @property
    def text(self) -> str:
        return f"Error: {self.error.kafka_text}" if self.error else "Successful"


def _known_partition(row: PartitionStatus) -> int | None:
    return int(row.partition.partition) if row.partition.partition >= 0 else None


PARTITION_STATUSES = (
    TextColumn("TOPIC", attrgetter("partition.topic"), margin=0),
    TextColumn("PARTITION", _known_partition, 10),
    TextColumn("STATUS", attrgetter("text"), field="error", plain=lambda row: _error(row.error)),
)


def partition_statuses(
    errors: Mapping[TopicPartition, ClientError | None],
) -> list[PartitionStatus]:
    # Kafka's tool compares topic and partition as one text: t10 comes before t2.
    return [
        PartitionStatus(partition, errors[partition])
        for partition in sorted(errors, key=lambda one: f"{one.topic}{one.partition}")
    ]


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
    session.show_table(PARTITION_STATUSES, partition_statuses(errors))
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
