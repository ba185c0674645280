"""What a GroupMetadata record says, in the terms of the tables; plain Python, run in Spark's workers."""

from __future__ import annotations

from msgspec import Struct, json

from group_coordinator.codecs.consumer_protocol import parse_assignment, parse_subscription
from group_coordinator.core.expiration import rule_for
from group_coordinator.core.group import CONSUMER_PROTOCOL_TYPE
from group_coordinator.core.states import ClassicState


class _Member(Struct, rename="camel"):
    member_id: str
    client_id: str
    client_host: str
    session_timeout: int
    group_instance_id: str | None = None
    rebalance_timeout: int | None = None
    subscription: bytes = b""
    assignment: bytes = b""


class _GroupMetadata(Struct, rename="camel"):
    protocol_type: str
    generation: int
    protocol: str | None = None
    leader: str | None = None
    current_state_timestamp: int = -1
    members: list[_Member] = []


class _GroupMetadataValue(Struct):
    data: _GroupMetadata


class MemberRow(Struct):
    """A member as the members table shows it."""

    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    session_timeout_ms: int
    rebalance_timeout_ms: int | None
    subscribed_topics: list[str] | None
    assigned_partitions: list[dict[str, str | int]] | None


class GroupRow(Struct):
    """A group as the groups table shows it, without what its offsets say."""

    state: str
    protocol_type: str | None
    protocol: str | None
    generation_or_epoch: int
    leader: str | None
    empty_since_ms: int | None
    expiration_base: str
    protected_topics: list[str]
    members: list[MemberRow]


def group_row(value: str) -> str:
    """The GroupRow, as JSON, of a record's `{"version": ..., "data": {...}}`."""
    return json.encode(_group_row(json.decode(value, type=_GroupMetadataValue).data)).decode()


def _group_row(group: _GroupMetadata) -> GroupRow:
    state = ClassicState.STABLE if group.members else ClassicState.EMPTY
    # A group's first record, before its first rebalance is over, has an empty protocol type.
    protocol_type = group.protocol_type or None
    empty_since_ms = None
    if state is ClassicState.EMPTY and group.current_state_timestamp >= 0:
        empty_since_ms = group.current_state_timestamp
    rule = rule_for(state, protocol_type, _subscribed_topics(group), empty_since_ms)
    return GroupRow(
        state=state,
        protocol_type=protocol_type,
        protocol=group.protocol,
        generation_or_epoch=group.generation,
        leader=group.leader,
        empty_since_ms=empty_since_ms,
        expiration_base=rule.base,
        protected_topics=sorted(rule.protected_topics),
        members=[_member_row(member, group.protocol_type) for member in group.members],
    )


def _subscribed_topics(group: _GroupMetadata) -> frozenset[str] | None:
    """Union of the members' subscriptions; None: not a group of consumers, or one of them is not readable."""
    if group.protocol_type != CONSUMER_PROTOCOL_TYPE:
        return None
    subscriptions = [parse_subscription(member.subscription) for member in group.members]
    known = [topics for topics in subscriptions if topics is not None]
    if len(known) < len(subscriptions):
        return None
    return frozenset(topic for topics in known for topic in topics)


def _member_row(member: _Member, protocol_type: str) -> MemberRow:
    of_consumer = protocol_type == CONSUMER_PROTOCOL_TYPE
    topics = parse_subscription(member.subscription) if of_consumer else None
    assignment = parse_assignment(member.assignment) if of_consumer else None
    return MemberRow(
        member_id=member.member_id,
        group_instance_id=member.group_instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        session_timeout_ms=member.session_timeout,
        rebalance_timeout_ms=member.rebalance_timeout,
        subscribed_topics=None if topics is None else sorted(topics),
        assigned_partitions=None if assignment is None else _partitions(assignment),
    )


def _partitions(assignment: tuple[tuple[str, tuple[int, ...]], ...]) -> list[dict[str, str | int]]:
    return [
        {"topic": topic, "partition": partition}
        for topic, partitions in assignment
        for partition in partitions
    ]
