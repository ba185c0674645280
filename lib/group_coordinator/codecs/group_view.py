"""A group as JSON for people: Kafka's field names, and -1 for absent numbers as in Kafka."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from group_coordinator.codecs.fields import JsonObject, number_on_wire
from group_coordinator.core.assignors.spec import Assignment
from group_coordinator.core.consumer.target_assignment import preferred_assignor
from group_coordinator.core.embedded_protocol import parse_assignment
from group_coordinator.core.model.classic_group import CONSUMER_PROTOCOL_TYPE, ClassicGroup
from group_coordinator.core.model.classic_member import ClassicMember, ClassicState
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.consumer_member import ConsumerMember
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.topic_offsets import CommittedOffset
from group_coordinator.core.offsets.expiration import offsets_in_order

_UNKNOWN: JsonObject = {
    "type": None,
    "state": str(ClassicState.DEAD),
    "protocolType": None,
    "protocol": None,
    "generationOrEpoch": None,
    "leader": None,
    "members": [],
    "offsets": [],
}


def to_json(group: Group, config: CoordinatorConfig, next_deadline_ms: int | None) -> JsonObject:
    """Describe the group. A group that does not exist is Dead."""
    membership = group.membership
    described: JsonObject = {"groupId": group.group_id}
    if membership is None:
        described |= _UNKNOWN
    else:
        described |= (
            _classic(membership)
            if isinstance(membership, ClassicGroup)
            else _consumer(group, membership, config)
        )
        described["offsets"] = [_offset(*entry) for entry in offsets_in_order(group)]
    return described | {"nextDeadline": next_deadline_ms}


def _classic(membership: ClassicGroup) -> JsonObject:
    stable = membership.state is ClassicState.STABLE
    return {
        "type": "classic",
        "state": str(membership.state),
        "protocolType": membership.protocol_type or "",
        # Kafka shows the protocol only of a Stable group: before that it is the last generation's.
        "protocol": (membership.protocol or "") if stable else "",
        "generationOrEpoch": membership.generation,
        "leader": membership.leader,
        "members": [
            _member(membership, member) for _, member in sorted(membership.members.items())
        ],
    }


def _member(membership: ClassicGroup, member: ClassicMember) -> JsonObject:
    # Before the election a member's first protocol stands for its subscription.
    protocol = member.protocol(membership.protocol) or next(iter(member.protocols), None)
    subscribed = protocol.topics if protocol and membership.is_of_consumers else None
    assigned = parse_assignment(member.assignment) if membership.is_of_consumers else None
    return {
        "memberId": member.member_id,
        "groupInstanceId": member.group_instance_id,
        "clientId": member.client_id,
        "clientHost": member.client_host,
        "sessionTimeoutMs": member.session_timeout_ms,
        "rebalanceTimeoutMs": member.rebalance_timeout_ms,
        "subscribedTopics": None if subscribed is None else list(subscribed),
        "assignedPartitions": [
            {"topic": topic, "partition": partition}
            for topic, partitions in assigned or ()
            for partition in partitions
        ],
    }


def _consumer(group: Group, membership: ConsumerGroup, config: CoordinatorConfig) -> JsonObject:
    topics = {topic_id: topic.name for topic_id, topic in group.topics_by_id().items()}
    members = membership.members
    return {
        "type": "consumer",
        "state": str(membership.state),
        "protocolType": CONSUMER_PROTOCOL_TYPE,
        "protocol": preferred_assignor(membership, config.assignors[0]),
        "generationOrEpoch": membership.epoch,
        "assignmentEpoch": membership.assignment_epoch,
        "leader": None,
        "members": [
            _consumer_member(member, membership.target_of(member_id), topics)
            for member_id, member in sorted(members.items())
        ],
    }


def _consumer_member(
    member: ConsumerMember, target: Assignment, topics: Mapping[str, str]
) -> JsonObject:
    metadata, current = member.metadata, member.current
    return {
        "memberId": member.member_id,
        "groupInstanceId": metadata.group_instance_id,
        "clientId": metadata.client_id,
        "clientHost": metadata.client_host,
        "rackId": metadata.rack_id,
        "rebalanceTimeoutMs": metadata.rebalance_timeout_ms,
        "serverAssignor": metadata.server_assignor,
        "subscribedTopics": list(metadata.topic_names),
        "subscribedTopicRegex": metadata.topic_regex,
        "memberEpoch": member.epoch,
        "previousMemberEpoch": current.previous_epoch,
        "memberState": current.state.name,
        "assignedPartitions": _partitions(current.assigned, topics),
        "partitionsPendingRevocation": _partitions(current.pending_revocation, topics),
        "targetPartitions": _partitions(target, topics),
    }


def _partitions(
    partitions: Mapping[str, Iterable[int]], topics: Mapping[str, str]
) -> list[JsonObject]:
    return [
        # A deleted topic has no known name: its id replaces the name.
        {"topic": topics.get(topic_id, topic_id), "partition": partition}
        for topic_id, of_topic in partitions.items()
        for partition in of_topic
    ]


def _offset(topic: str, partition: int, offset: CommittedOffset) -> JsonObject:
    return {
        "topic": topic,
        "partition": partition,
        "committedOffset": offset.offset,
        "leaderEpoch": number_on_wire(offset.leader_epoch),
        "metadata": offset.metadata,
        "commitTimestamp": offset.commit_timestamp_ms,
        "expireTimestamp": number_on_wire(offset.expire_timestamp_ms),
    }
