"""Requests of a member of the consumer protocol (KIP-848); bodies as Kafka's message schemas have them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from uuid import uuid4

from group_coordinator.binary.uuids import uuid_text
from group_coordinator.clients.channel.request import Body, Request
from group_coordinator.clients.member.options import MemberOptions, SubscriptionPattern
from group_coordinator.clients.member_identity import MemberIdentity
from group_coordinator.core.assignors.spec import Assignment

JOIN_EPOCH = 0
_LEFT_EPOCH, _STATIC_LEFT_EPOCH = -1, -2
_HEARTBEAT_VERSION = 1
_UNCHANGED: Body = {
    "rackId": None,
    "rebalanceTimeoutMs": -1,
    "subscribedTopicNames": None,
    "subscribedTopicRegex": None,
    "serverAssignor": None,
    "topicPartitions": None,
}


def new_member_id() -> str:
    """A random uuid as Kafka prints it; one that begins with a dash would look like an option of a command."""
    member_id = "-"
    while member_id.startswith("-"):
        member_id = uuid_text(uuid4().bytes)
    return member_id


@dataclass(frozen=True, slots=True)
class Statement:
    """What a member sends to its coordinator once; later heartbeats contain only changes."""

    subscription: frozenset[str] | SubscriptionPattern
    owned: Assignment


def heartbeat(
    identity: MemberIdentity, options: MemberOptions, statement: Statement, sent: Statement | None
) -> Request:
    """A heartbeat with what differs from the statement that was sent last; None: nothing was sent yet."""
    changes: Body = {}
    if sent is None:
        changes["rackId"] = options.client_rack
        changes["rebalanceTimeoutMs"] = options.rebalance_timeout_ms
        changes["serverAssignor"] = options.group_remote_assignor
    if sent is None or statement.subscription != sent.subscription:
        changes |= _subscription(statement.subscription)
    if sent is None or statement.owned != sent.owned:
        changes["topicPartitions"] = [
            {"topicId": topic_id, "partitions": list(partitions)}
            for topic_id, partitions in statement.owned.items()
        ]
    return _heartbeat(identity, changes)


def _subscription(subscription: frozenset[str] | SubscriptionPattern) -> Body:
    """A member reads what its names and its expression match together, so that the one it does not use must be empty."""
    if isinstance(subscription, SubscriptionPattern):
        return {"subscribedTopicNames": [], "subscribedTopicRegex": subscription.regex}
    return {"subscribedTopicNames": sorted(subscription), "subscribedTopicRegex": ""}


def leave_group(identity: MemberIdentity) -> Request:
    """The last heartbeat; a static member may come back."""
    epoch = _LEFT_EPOCH if identity.group_instance_id is None else _STATIC_LEFT_EPOCH
    return _heartbeat(replace(identity, generation_id=epoch), {})


def _heartbeat(identity: MemberIdentity, changes: Body) -> Request:
    body = {
        "groupId": identity.group_id,
        "memberId": identity.member_id,
        "memberEpoch": identity.generation_id,
        "instanceId": identity.group_instance_id,
        **_UNCHANGED,
        **changes,
    }
    return Request("ConsumerGroupHeartbeat", _HEARTBEAT_VERSION, identity.group_id, body)


def assigned(body: Body) -> Assignment | None:
    """The partitions in a heartbeat's answer; None: they have not changed."""
    assignment = body["assignment"]
    if assignment is None:
        return None
    return {
        topic["topicId"]: tuple(sorted(topic["partitions"]))
        for topic in assignment["topicPartitions"]
        if topic["partitions"]
    }
