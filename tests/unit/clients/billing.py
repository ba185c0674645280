"""The members of a group, and the coordinator that they talk to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kafka import TopicPartition

from group_coordinator.clients.member.member import GroupMember
from group_coordinator.clients.member.membership import MemberOptions, SubscriptionPattern
from group_coordinator.clients.offset_messages import (
    MemberIdentity,
    Offsets,
    commit_offsets,
    partition_results,
)
from group_coordinator.clients.results import PartitionResults
from tests.unit.clients.coordinator_in_process import CoordinatorInProcess

ORDERS, REFUNDS = "b3JkZXJzb3JkZXJzb3JkZQ", "cmVmdW5kc3JlZnVuZHNyZQ"
IDS = {"orders": ORDERS, "refunds": REFUNDS}
INTERVAL_MS = 5_000


def partitions(topic: str, *numbers: int) -> set[TopicPartition]:
    return {TopicPartition(topic, number) for number in numbers}


def coordinator_of_billing() -> CoordinatorInProcess:
    """It knows two topics."""
    coordinator = CoordinatorInProcess()
    coordinator.tell_topics("billing", {"orders": (ORDERS, 4), "refunds": (REFUNDS, 2)})
    return coordinator


def new_member(
    coordinator: CoordinatorInProcess,
    name: str,
    topics: Iterable[str] | SubscriptionPattern = ("orders",),
    topic_ids: Mapping[str, str] = IDS,
    **options: Any,
) -> GroupMember:
    if not isinstance(topics, SubscriptionPattern):
        topics = list(topics)
    return GroupMember(
        coordinator,
        "billing",
        topics,
        topic_ids=topic_ids,
        options=MemberOptions(client_id=name, group_protocol="consumer", **options),
        clock=coordinator.clock,
    )


def join_classic(coordinator: CoordinatorInProcess, topics: list[str]) -> GroupMember:
    """A classic member after its first rebalance."""
    member = GroupMember(
        coordinator,
        "billing",
        topics,
        {"orders": 2, "refunds": 1},
        options=MemberOptions(client_id="a"),
        clock=coordinator.clock,
    )
    for _ in range(4):
        member.poll()
        coordinator.sleep(3_000)
    return member


def commit(coordinator: CoordinatorInProcess, offsets: Offsets) -> PartitionResults:
    """As an administrator."""
    request = commit_offsets(MemberIdentity("billing"), offsets)
    return partition_results(coordinator.send(request).result(), offsets)


def poll(*members: GroupMember, rounds: int = 5) -> None:
    for _ in range(rounds):
        for member in members:
            member.poll()


def live(coordinator: CoordinatorInProcess, *members: GroupMember, heartbeats: int = 4) -> None:
    """Let everybody heartbeat until the group has come to rest."""
    poll(*members)
    for _ in range(heartbeats):
        coordinator.sleep(INTERVAL_MS)
        poll(*members)


def bodies(coordinator: CoordinatorInProcess) -> list[Any]:
    return [event["body"] for event in coordinator.events]
