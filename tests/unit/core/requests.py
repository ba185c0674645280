"""Requests with the usual arguments, for what the verbs of a GroupDriver leave out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from group_coordinator.core.embedded_protocol import encode_subscription
from group_coordinator.core.model.classic_member import Protocol
from group_coordinator.core.model.requests import (
    ConsumerGroupHeartbeat,
    Heartbeat,
    JoinGroup,
    LeaveGroup,
    LeavingMember,
    OffsetCommit,
    OffsetFetch,
    PartitionCommit,
    SyncGroup,
    TopicCommit,
    TopicPartitions,
    TxnOffsetCommit,
)
from group_coordinator.core.model.topic_offsets import CommittedOffset


def protocol(name: str = "range", *topics: str) -> Protocol:
    """An entry of a consumer's JoinGroup; without topics it subscribes to "orders"."""
    subscribed = topics or ("orders",)
    return Protocol(name, encode_subscription(subscribed))


def unreadable(name: str = "range") -> Protocol:
    """An entry whose subscription nobody can read."""
    return Protocol(name, b"?")


def join(
    member_id: str = "",
    *protocols: Protocol,
    instance_id: str | None = None,
    protocol_type: str = "consumer",
    session_timeout_ms: int = 10_000,
    rebalance_timeout_ms: int = 60_000,
) -> JoinGroup:
    return JoinGroup(
        group_id="g",
        session_timeout_ms=session_timeout_ms,
        rebalance_timeout_ms=rebalance_timeout_ms,
        member_id=member_id,
        group_instance_id=instance_id,
        protocol_type=protocol_type,
        protocols=protocols or (protocol(),),
    )


def sync(
    member_id: str,
    generation: int,
    assignments: Iterable[tuple[str, bytes]] = (),
    *,
    instance_id: str | None = None,
    protocol_type: str | None = "consumer",
    name: str | None = "range",
) -> SyncGroup:
    given = tuple(assignments)
    return SyncGroup(
        group_id="g",
        generation=generation,
        member_id=member_id,
        group_instance_id=instance_id,
        protocol_type=protocol_type,
        protocol=name,
        assignments=given,
    )


def heartbeat(member_id: str, generation: int, instance_id: str) -> Heartbeat:
    return Heartbeat("g", generation, member_id, instance_id)


def leave(*members: tuple[str, str | None]) -> LeaveGroup:
    """Leave, given as pairs (member id, instance id)."""
    return LeaveGroup("g", tuple(LeavingMember(*member) for member in members))


def commit(
    *partitions: PartitionCommit,
    member_id: str = "",
    generation: int | None = None,
    instance_id: str | None = None,
    topic: str | None = "orders",
    topic_id: str | None = None,
) -> OffsetCommit:
    topics = (TopicCommit(topic, topic_id, partitions or (at_offset(1),)),)
    return OffsetCommit(
        group_id="g",
        generation=generation,
        member_id=member_id,
        group_instance_id=instance_id,
        retention_time_ms=None,
        topics=topics,
    )


def at_offset(
    offset: int,
    partition: int = 0,
    *,
    leader_epoch: int | None = None,
    metadata: str | None = None,
    commit_timestamp_ms: int | None = None,
) -> PartitionCommit:
    return PartitionCommit(partition, offset, leader_epoch, metadata, commit_timestamp_ms)


def beat(*topics: str, epoch: int = 0) -> ConsumerGroupHeartbeat:
    return ConsumerGroupHeartbeat(
        group_id="g",
        member_id="m",
        member_epoch=epoch,
        group_instance_id=None,
        rack_id=None,
        rebalance_timeout_ms=60_000,
        topic_names=topics,
        topic_regex=None,
        server_assignor=None,
        owned=(),
    )


def txn_commit(*partitions: PartitionCommit, **fields: Any) -> TxnOffsetCommit:
    usual = TxnOffsetCommit(
        group_id="g",
        producer_id=17,
        generation=None,
        member_id="",
        group_instance_id=None,
        topics=commit(*partitions).topics,
    )
    return usual.replace(**fields)


def committed_offset(offset: int = 42, **fields: Any) -> CommittedOffset:
    usual = CommittedOffset(
        offset=offset,
        leader_epoch=None,
        metadata="",
        commit_timestamp_ms=1_000,
        expire_timestamp_ms=None,
        topic_id=None,
    )
    return usual.replace(**fields)


def fetch_by_id(topic_id: str, *partitions: int) -> OffsetFetch:
    topics = (TopicPartitions(None, topic_id, partitions),)
    return OffsetFetch("g", None, None, topics, require_stable=False)
