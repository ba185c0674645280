"""Requests of a member of the consumer protocol (KIP-848); bodies as Kafka's message schemas have them."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from uuid import uuid4

from group_coordinator.clients.admin import messages
from group_coordinator.clients.admin.messages import Offsets
from group_coordinator.clients.results import PartitionResults
from group_coordinator.clients.channel.request import Body, Request
from group_coordinator.clients.member.options import MemberOptions, SubscriptionPattern
from group_coordinator.core.assignors.spec import Assignment

JOIN_EPOCH = 0
_LEFT_EPOCH, _STATIC_LEFT_EPOCH = -1, -2
_HEARTBEAT_VERSION = 1
_COMMIT_BY_ID_VERSION = 10
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
        member_id = urlsafe_b64encode(uuid4().bytes).decode().rstrip("=")
    return member_id


@dataclass(frozen=True, slots=True)
class Statement:
    """What a member tells its coordinator: once, and then what has changed of it."""

    subscription: frozenset[str] | SubscriptionPattern
    owned: Assignment


@dataclass(frozen=True, slots=True)
class Speaker:
    """Who a member is to its group; a dynamic member has no instance id."""

    group_id: str
    member_id: str
    epoch: int = JOIN_EPOCH
    group_instance_id: str | None = None

    def commit_fields(self) -> Body:
        """How OffsetCommit names the member."""
        return {
            "generationIdOrMemberEpoch": self.epoch,
            "memberId": self.member_id,
            "groupInstanceId": self.group_instance_id,
        }


def heartbeat(
    speaker: Speaker, options: MemberOptions, statement: Statement, told: Statement | None
) -> Request:
    """A heartbeat that says what the coordinator has not been told yet; None: it has been told nothing."""
    changes: Body = {}
    if told is None:
        changes["rackId"] = options.client_rack
        changes["rebalanceTimeoutMs"] = options.rebalance_timeout_ms
        changes["serverAssignor"] = options.group_remote_assignor
    if told is None or statement.subscription != told.subscription:
        changes |= _subscription(statement.subscription)
    if told is None or statement.owned != told.owned:
        changes["topicPartitions"] = [
            {"topicId": topic_id, "partitions": list(partitions)}
            for topic_id, partitions in statement.owned.items()
        ]
    return _heartbeat(speaker, speaker.epoch, changes)


def _subscription(subscription: frozenset[str] | SubscriptionPattern) -> Body:
    """Names and expression together are what the member reads, so that the one it does not use is to be empty."""
    if isinstance(subscription, SubscriptionPattern):
        return {"subscribedTopicNames": [], "subscribedTopicRegex": subscription.regex}
    return {"subscribedTopicNames": sorted(subscription), "subscribedTopicRegex": ""}


def leave_group(speaker: Speaker) -> Request:
    """A heartbeat that says goodbye: for good, or for a static member until it comes back."""
    is_dynamic = speaker.group_instance_id is None
    return _heartbeat(speaker, _LEFT_EPOCH if is_dynamic else _STATIC_LEFT_EPOCH, {})


def _heartbeat(speaker: Speaker, epoch: int, changes: Body) -> Request:
    body = {
        "groupId": speaker.group_id,
        "memberId": speaker.member_id,
        "memberEpoch": epoch,
        "instanceId": speaker.group_instance_id,
        **_UNCHANGED,
        **changes,
    }
    return Request("ConsumerGroupHeartbeat", _HEARTBEAT_VERSION, speaker.group_id, body)


def assigned(body: Body) -> Assignment | None:
    """The partitions in a heartbeat's answer; None: they are what they were."""
    assignment = body["assignment"]
    if assignment is None:
        return None
    return {
        topic["topicId"]: tuple(sorted(topic["partitions"]))
        for topic in assignment["topicPartitions"]
        if topic["partitions"]
    }


def commit_by_id(speaker: Speaker, offsets: Offsets, topic_ids: Mapping[str, str]) -> Request:
    """An OffsetCommit that names topics by id; `topic_ids` has the id of each."""
    by_name = messages.commit_offsets(speaker.group_id, offsets, speaker.commit_fields())
    topics = [
        {"topicId": topic_ids[topic["name"]], "partitions": topic["partitions"]}
        for topic in by_name.body["topics"]
    ]
    return by_name._replace(version=_COMMIT_BY_ID_VERSION, body={**by_name.body, "topics": topics})


def results_by_id(body: Body, offsets: Offsets, topic_ids: Mapping[str, str]) -> PartitionResults:
    """The outcome of a commit by id for each partition."""
    names = {topic_id: name for name, topic_id in topic_ids.items()}
    topics = [{**topic, "name": names[topic["topicId"]]} for topic in body.get("topics", ())]
    return messages.partition_results({**body, "topics": topics}, offsets)


def topics_of(offsets: Offsets) -> Collection[str]:
    """The names of the topics that offsets belong to."""
    return {partition.topic for partition in offsets}
