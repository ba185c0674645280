"""A group of many consumers of the consumer protocol, for growth.py."""

from __future__ import annotations

from typing import Any

from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.consumer_member import (
    ConsumerMember,
    CurrentAssignment,
    ReconciliationState,
    SubscriptionMetadata,
)
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.requests import Topic
from group_coordinator.core.model.timers import Timer, session_timer
from group_coordinator.core.topics import group_hash, topic_hash
from tests.benchmarks.growing import (
    GROUP_ID,
    NOW_MS,
    PATIENCE_MS,
    SESSION_MS,
    TOPICS,
    GrownGroup,
    Sent,
    event_of,
    host,
    many,
    topic_name,
)

PARTITIONS_OF_A_MEMBER = 10


def _topic_id(topic: int) -> str:
    return f"{topic:020d}AA"


def of_consumers(size: int) -> GrownGroup:
    """Each member has ten partitions; the middle one has yet to give one of them back."""
    topics = {
        topic_name(topic): Topic(
            topic_name(topic), _topic_id(topic), size * PARTITIONS_OF_A_MEMBER // TOPICS
        )
        for topic in range(TOPICS)
    }
    names = tuple(sorted(topics))
    hash_ = group_hash({name: topic_hash(topic) for name, topic in topics.items()})
    membership = ConsumerGroup(
        epoch=9,
        metadata_hash=hash_,
        assignment_epoch=9,
        assignment_timestamp_ms=NOW_MS - 10_000,
        metadata_deadline_ms=NOW_MS + PATIENCE_MS,
    )
    for number in range(size):
        _put_consumer(membership, number, size, names)
    group = Group(
        GROUP_ID,
        membership,
        topics=topics,
        clock_ms=NOW_MS - 1,
        topics_version=1,
        new_topics_version=1,
    )
    giving = size // 2
    topic, partitions = _held(giving, size)
    owned = [{"topicId": _topic_id(topic), "partitions": partitions[:-1]}]
    return GrownGroup(
        "consumers",
        size,
        group,
        (
            Sent("ConsumerGroupHeartbeat, no change", (_beat(size - 1, 9),)),
            Sent("ConsumerGroupHeartbeat, gives back", (_beat(giving, 8, owned),)),
            Sent("ConsumerGroupHeartbeat, gets more", (_beat(giving, 8, owned), _beat(0, 8))),
            Sent("ConsumerGroupHeartbeat, leaves", (_beat(size - 1, -1),)),
            Sent("ConsumerGroupHeartbeat, joins", (_join(size, names),), answer_grows=True),
        ),
        (Sent("ConsumerGroupHeartbeat", many(lambda n: _beat(n + 1, 9))),),
    )


def _held(number: int, size: int) -> tuple[int, list[int]]:
    members_of_a_topic = max(1, size // TOPICS)
    topic, place = divmod(number, members_of_a_topic)
    first = place * PARTITIONS_OF_A_MEMBER
    return topic, list(range(first, first + PARTITIONS_OF_A_MEMBER))


def _put_consumer(
    membership: ConsumerGroup, number: int, size: int, names: tuple[str, ...]
) -> None:
    member_id = f"{number:020d}AA"
    topic, partitions = _held(number, size)
    held = {_topic_id(topic): dict.fromkeys(partitions, 8)}
    target = {_topic_id(topic): tuple(partitions)}
    current = CurrentAssignment(9, 8, ReconciliationState.STABLE, held, {})
    if number == size // 2:
        *kept, given_back = partitions
        held = {_topic_id(topic): dict.fromkeys(kept, 8)}
        target = {_topic_id(topic): tuple(kept)}
        owed = {_topic_id(topic): {given_back: 8}}
        current = CurrentAssignment(8, 7, ReconciliationState.UNREVOKED_PARTITIONS, held, owed)
    if number == 0:
        other, its_partitions = _held(size // 2, size)
        target = {**target, _topic_id(other): (its_partitions[-1],)}
        if other == topic:
            target = {_topic_id(topic): (*partitions, its_partitions[-1])}
        current = CurrentAssignment(8, 7, ReconciliationState.STABLE, held, {})
    metadata = SubscriptionMetadata(
        group_instance_id=None,
        rack_id=None,
        client_id="billing",
        client_host=host(number),
        topic_names=names,
        topic_regex=None,
        rebalance_timeout_ms=PATIENCE_MS,
        server_assignor=None,
        classic=None,
    )
    membership.put(ConsumerMember(member_id, metadata, current))
    membership.targets[member_id] = target
    since_ms = NOW_MS - number % 5_000
    membership.timers[session_timer(member_id)] = Timer(since_ms + SESSION_MS, since_ms)


def _beat(number: int, epoch: int, owned: Any = None) -> bytes:
    return event_of(
        "ConsumerGroupHeartbeat",
        1,
        client_host=host(number),
        groupId=GROUP_ID,
        memberId=f"{number:020d}AA",
        memberEpoch=epoch,
        topicPartitions=owned,
    )


def _join(number: int, names: tuple[str, ...]) -> bytes:
    """It brings a new target for nearly every member."""
    return event_of(
        "ConsumerGroupHeartbeat",
        1,
        client_host=host(number),
        groupId=GROUP_ID,
        memberId=f"{number:020d}AA",
        memberEpoch=0,
        rebalanceTimeoutMs=PATIENCE_MS,
        subscribedTopicNames=names,
        topicPartitions=[],
    )
