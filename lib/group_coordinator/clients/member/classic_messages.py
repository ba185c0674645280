"""Requests of a member of the classic protocol; bodies as Kafka's message schemas have them."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Collection, Mapping

from kafka import TopicPartition

from group_coordinator.clients.channel.request import Body, Request
from group_coordinator.clients.member_identity import MemberIdentity
from group_coordinator.core.embedded_protocol import (
    encode_subscription,
    parse_assignment,
)

PROTOCOL_TYPE = "consumer"
PROTOCOL = "range"
_MAX_REASON_CHARACTERS = 255


def join_group(
    identity: MemberIdentity,
    topics: Collection[str],
    session_timeout_ms: int,
    rebalance_timeout_ms: int,
) -> Request:
    """A JoinGroup with the range protocol."""
    subscription = encode_subscription(sorted(topics))
    body = {
        "groupId": identity.group_id,
        "sessionTimeoutMs": session_timeout_ms,
        "rebalanceTimeoutMs": rebalance_timeout_ms,
        "memberId": identity.member_id,
        "groupInstanceId": identity.group_instance_id,
        "protocolType": PROTOCOL_TYPE,
        "protocols": [{"name": PROTOCOL, "metadata": _base64(subscription)}],
        "reason": None,
    }
    return Request("JoinGroup", 9, identity.group_id, body)


def sync_group(identity: MemberIdentity, assignments: Mapping[str, bytes]) -> Request:
    """A SyncGroup; only the leader sends assignments."""
    body = {
        **_identity_fields(identity),
        "protocolType": PROTOCOL_TYPE,
        "protocolName": PROTOCOL,
        "assignments": [
            {"memberId": member, "assignment": _base64(assignment)}
            for member, assignment in assignments.items()
        ],
    }
    return Request("SyncGroup", 5, identity.group_id, body)


def assigned_partitions(assignment: str) -> tuple[TopicPartition, ...]:
    """The partitions in an assignment that a leader wrote, in base64; unreadable bytes are no partitions."""
    return tuple(
        TopicPartition(topic, number)
        for topic, numbers in parse_assignment(b64decode(assignment)) or ()
        for number in numbers
    )


def heartbeat(identity: MemberIdentity) -> Request:
    """A Heartbeat."""
    return Request("Heartbeat", 4, identity.group_id, _identity_fields(identity))


def leave_group(identity: MemberIdentity, reason: str) -> Request:
    """A LeaveGroup of this member alone."""
    member = {
        "memberId": identity.member_id,
        "groupInstanceId": identity.group_instance_id,
        "reason": reason[:_MAX_REASON_CHARACTERS],
    }
    return Request(
        "LeaveGroup", 5, identity.group_id, {"groupId": identity.group_id, "members": [member]}
    )


def _identity_fields(identity: MemberIdentity) -> Body:
    return {
        "groupId": identity.group_id,
        "generationId": identity.generation_id,
        "memberId": identity.member_id,
        "groupInstanceId": identity.group_instance_id,
    }


def _base64(value: bytes) -> str:
    return b64encode(value).decode()
