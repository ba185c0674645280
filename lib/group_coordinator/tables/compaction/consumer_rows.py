"""Consumer groups (KIP-848) as rows of groups and members, and back: the rows hold all that the next records build on.

Their records name topics by id alone. The log keeps the names beside (codecs/records/consumer_member.py); where nobody told one, as in a
log that was mirrored from a cluster, the id stands in its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from group_coordinator.core.model.classic_group import CONSUMER_PROTOCOL_TYPE
from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.consumer_member import (
    Assignment,
    ClassicMetadata,
    ConsumerMember,
    CurrentAssignment,
    MemberState,
    OwnedPartitions,
    ResolvedRegex,
    SubscriptionMetadata,
)
from group_coordinator.core.offsets.expiration import rule_of
from group_coordinator.tables.compaction.rows import CLASSIC, Row

CONSUMER = "consumer"


def consumer_group_row(group: ConsumerGroup, empty_since_ms: int | None) -> Row:
    """A consumer group; its log does not say when its last member went, the time of that record does."""
    rule = rule_of(group)
    return {
        "group_type": CONSUMER,
        "state": str(group.state),
        "protocol_type": CONSUMER_PROTOCOL_TYPE,
        "protocol": _wanted_assignor(group),
        "generation_or_epoch": group.epoch,
        "leader": None,
        "member_count": len(group.members),
        "empty_since": None if group.members else empty_since_ms,
        "expiration_base": rule.base,
        "protected_topics": sorted(rule.protected_topics),
        "assignment_epoch": group.assignment_epoch,
        "assignment_timestamp": group.assignment_timestamp_ms or None,
        "metadata_hash": group.metadata_hash,
        "resolved_regexes": [
            {
                "regex": regex,
                "topics": list(resolved.topics),
                "version": resolved.version,
                "resolved_at_ms": resolved.timestamp_ms,
            }
            for regex, resolved in sorted(group.regexes.items())
        ],
    }


def consumer_member_rows(group: ConsumerGroup, topic_names: Mapping[str, str]) -> Iterator[Row]:
    """The members of a consumer group, in the order of their ids."""
    for member_id, member in sorted(group.members.items()):
        yield {
            "member_id": member_id,
            **_subscription(member.metadata),
            **_current(member.current, topic_names),
            "target_assignment": _target(group.target_of(member_id), topic_names),
        }


def consumer_group(row: Row, members: Iterable[Row]) -> ConsumerGroup:
    """The group that left these rows."""
    group = ConsumerGroup(
        row["generation_or_epoch"],
        row["metadata_hash"],
        row["assignment_epoch"],
        row["assignment_timestamp"] or 0,
    )
    group.regexes = {
        entry["regex"]: ResolvedRegex(
            tuple(entry["topics"]), entry["version"], entry["resolved_at_ms"]
        )
        for entry in row["resolved_regexes"]
    }
    for member in members:
        member_id = member["member_id"]
        group.put(ConsumerMember(member_id, _metadata_of(member), _current_of(member)))
        group.targets[member_id] = _target_of(member)
    return group


def topic_names_in(members: Iterable[Row]) -> dict[str, str]:
    """The topics' names by id, as far as the rows know them."""
    columns = ("current_assignment", "pending_revocation", "target_assignment")
    return {
        entry["topic_id"]: entry["topic"]
        for member in members
        for column in columns
        for entry in member[column] or ()
    }


def _wanted_assignor(group: ConsumerGroup) -> str | None:
    """What most members ask for; None: nobody asks, and the coordinator's first one assigns."""
    asked = [member.metadata.server_assignor for member in group.members.values()]
    votes = {name: asked.count(name) for name in sorted({name for name in asked if name})}
    return max(votes, key=votes.__getitem__, default=None)


def _subscription(metadata: SubscriptionMetadata) -> Row:
    classic = metadata.classic
    return {
        "group_instance_id": metadata.group_instance_id,
        "client_id": metadata.client_id,
        "client_host": metadata.client_host,
        "session_timeout_ms": None if classic is None else classic.session_timeout_ms,
        "rebalance_timeout_ms": metadata.rebalance_timeout_ms,
        "subscribed_topics": list(metadata.topic_names),
        "subscribed_regex": metadata.topic_regex,
        "rack_id": metadata.rack_id,
        "server_assignor": metadata.server_assignor,
        "member_type": CONSUMER if classic is None else CLASSIC,
    }


def _metadata_of(row: Row) -> SubscriptionMetadata:
    """Which protocols a classic member listed is of no use to the tables."""
    is_classic = row["member_type"] == CLASSIC
    return SubscriptionMetadata(
        row["group_instance_id"],
        row["rack_id"],
        row["client_id"],
        row["client_host"],
        tuple(row["subscribed_topics"]),
        row["subscribed_regex"],
        row["rebalance_timeout_ms"],
        row["server_assignor"],
        ClassicMetadata(row["session_timeout_ms"], ()) if is_classic else None,
    )


def _current(current: CurrentAssignment, topic_names: Mapping[str, str]) -> Row:
    assigned = _owned(current.assigned, topic_names)
    return {
        "assigned_partitions": [
            {"topic": entry["topic"], "partition": entry["partition"]} for entry in assigned
        ],
        "member_epoch": current.epoch,
        "previous_member_epoch": current.previous_epoch,
        "member_state": current.state.name,
        "current_assignment": assigned,
        "pending_revocation": _owned(current.pending_revocation, topic_names),
    }


def _current_of(row: Row) -> CurrentAssignment:
    return CurrentAssignment(
        row["member_epoch"],
        row["previous_member_epoch"],
        MemberState[row["member_state"]],
        _owned_of(row["current_assignment"]),
        _owned_of(row["pending_revocation"]),
    )


def _owned(owned: OwnedPartitions, topic_names: Mapping[str, str]) -> list[Row]:
    return [
        {
            "topic": topic_names.get(topic_id, topic_id),
            "topic_id": topic_id,
            "partition": partition,
            "assignment_epoch": epoch,
        }
        for topic_id, partitions in sorted(owned.items())
        for partition, epoch in sorted(partitions.items())
    ]


def _owned_of(entries: Iterable[Row]) -> OwnedPartitions:
    owned: OwnedPartitions = {}
    for entry in entries:
        owned.setdefault(entry["topic_id"], {})[entry["partition"]] = entry["assignment_epoch"]
    return owned


def _target(target: Assignment, topic_names: Mapping[str, str]) -> list[Row]:
    return [
        {
            "topic": topic_names.get(topic_id, topic_id),
            "topic_id": topic_id,
            "partition": partition,
        }
        for topic_id, partitions in sorted(target.items())
        for partition in partitions
    ]


def _target_of(row: Row) -> Assignment:
    partitions: dict[str, list[int]] = {}
    for entry in row["target_assignment"]:
        partitions.setdefault(entry["topic_id"], []).append(entry["partition"])
    return {topic_id: tuple(numbers) for topic_id, numbers in partitions.items()}
