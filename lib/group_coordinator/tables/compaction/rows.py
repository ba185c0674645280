"""Records as rows: what each column of groups, members and offsets is made of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from group_coordinator.codecs.uuids import uuid_or_none
from group_coordinator.core.embedded_protocol import parse_assignment
from group_coordinator.core.model.classic_group import CONSUMER_PROTOCOL_TYPE
from group_coordinator.core.model.offset import CommittedOffset
from group_coordinator.core.model.records import GroupMetadata, MemberMetadata, OffsetRecord
from group_coordinator.core.model.states import ClassicState
from group_coordinator.core.offsets.expiration import ExpirationRule, rule_of
from group_coordinator.core.replay import load_membership
from group_coordinator.tables.instants import shown_ms

Row: TypeAlias = dict[str, Any]
"""One row of a table by column name; instants are in milliseconds."""

CLASSIC = "classic"


def group_row(metadata: GroupMetadata) -> Row:
    """A group that has been joined at least once."""
    group = load_membership(metadata, now_ms=0)
    rule = rule_of(group)
    return {
        "group_type": CLASSIC,
        "state": str(group.state),
        "protocol_type": group.protocol_type,
        "protocol": group.protocol,
        "generation_or_epoch": group.generation,
        "leader": group.leader,
        "member_count": len(group.members),
        "empty_since": None if group.members else _shown(group.state_timestamp_ms),
        "expiration_base": rule.base,
        "protected_topics": sorted(rule.protected_topics),
    }


def simple_group_row() -> Row:
    """A group that only stores offsets; they age by their commit time."""
    return {
        "group_type": CLASSIC,
        "state": str(ClassicState.EMPTY),
        "protocol_type": None,
        "protocol": None,
        "generation_or_epoch": 0,
        "leader": None,
        "member_count": 0,
        "empty_since": None,
        "expiration_base": "commit",
        "protected_topics": [],
    }


def member_rows(metadata: GroupMetadata) -> Iterator[Row]:
    """The members of a group."""
    for member in metadata.members:
        yield {
            "member_id": member.member_id,
            "group_instance_id": member.group_instance_id,
            "client_id": member.client_id,
            "client_host": member.client_host,
            "session_timeout_ms": member.session_timeout_ms,
            "rebalance_timeout_ms": member.known_rebalance_timeout_ms,
            "subscribed_topics": _subscribed_topics(member),
            "assigned_partitions": _assigned_partitions(metadata, member),
            "member_epoch": None,
        }


def offset_row(record: OffsetRecord, offset: CommittedOffset) -> Row:
    """A committed offset, without its forecast."""
    return {
        "topic": record.topic,
        "topic_id": uuid_or_none(offset.topic_id),
        "partition": record.partition,
        "committed_offset": offset.offset,
        "leader_epoch": offset.leader_epoch,
        "metadata": offset.metadata,
        "commit_timestamp": shown_ms(offset.commit_timestamp_ms),
        "expire_timestamp": _shown(offset.expire_timestamp_ms),
    }


def due_ms(offset: Row, group: Row | None, retention_ms: int) -> int | None:
    """When an offset's group lets it go; None while something protects it."""
    rule = ExpirationRule("commit") if group is None else _rule(group)
    committed = CommittedOffset(
        offset["committed_offset"],
        offset["leader_epoch"],
        "",
        offset["commit_timestamp"],
        offset["expire_timestamp"],
        None,
    )
    return rule.due_ms(offset["topic"], committed, retention_ms)


def _rule(group: Row) -> ExpirationRule:
    empty_since_ms = group["empty_since"] if group["expiration_base"] == "empty" else None
    return ExpirationRule(
        group["expiration_base"], frozenset(group["protected_topics"]), empty_since_ms
    )


def _subscribed_topics(member: MemberMetadata) -> list[str] | None:
    topics = member.subscription.topics
    return None if topics is None else sorted(topics)


def _assigned_partitions(metadata: GroupMetadata, member: MemberMetadata) -> list[Row] | None:
    if metadata.protocol_type != CONSUMER_PROTOCOL_TYPE:
        return None
    assignment = parse_assignment(member.assignment)
    if assignment is None:
        return None
    return [
        {"topic": topic, "partition": partition}
        for topic, partitions in assignment
        for partition in partitions
    ]


def _shown(milliseconds: int | None) -> int | None:
    return None if milliseconds is None else shown_ms(milliseconds)
