"""Groups of all kinds inside a real Kafka broker, and their administrator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from kafka import OffsetAndMetadata, TopicPartition

from group_coordinator.clients.admin.client import AdminClient
from group_coordinator.clients.member.member import GroupMember
from group_coordinator.clients.member.membership import MemberOptions
from tests.broker.clients.fleet import DEADLINE_S, polled, until_all_have
from tests.broker.clients.groups_matrix import INVOICES, REFUNDS
from tests.broker.clients.kafka_as_channel import KafkaAsChannel
from tests.support.until import until

COUNTS = {"orders": 6, REFUNDS: 2}


@contextmanager
def groups_of_every_kind(
    kafka: KafkaAsChannel, same_kafka: AdminClient, topic_ids: Mapping[str, str]
) -> Iterator[None]:
    """Classic groups: one with two members and offsets, one with a static member, one that rebalances, some that only store offsets.

    Consumer groups: one with a static member, an empty one, and one that has a classic member too.
    """
    restore(same_kafka)
    slow = member(kafka, "rebalancing", "slow", ["orders"], patience_ms=300_000)
    slow.poll()
    idle = modern_member(kafka, topic_ids, "modern-and-idle", "gone")
    idle.join()
    idle.leave()
    members = [
        member(kafka, "billing-with-a-long-name", "first", ["orders", REFUNDS]),
        member(kafka, "billing-with-a-long-name", "second-client-with-a-name", ["orders"]),
        member(kafka, "static", "third", ["orders"], instance="instance-1"),
    ]
    modern = [
        modern_member(kafka, topic_ids, "modern-with-a-long-name", "fourth", REFUNDS),
        modern_member(kafka, topic_ids, "modern-with-a-long-name", "fifth", instance="till-1"),
    ]
    moving = [member(kafka, "moving", "old", ["orders"])]
    moving[0].join()
    moving.append(modern_member(kafka, topic_ids, "moving", "new"))
    newcomer = unsettled(kafka, same_kafka, slow)
    everybody = [*members, *modern, *moving]
    with polled(everybody):
        until_all_have(members[:2], 8)
        until_all_have(members[2:], 6)
        until_all_have(modern, 8, at_least=2)
        until_all_have(moving, 6, at_least=2)
        members[0].commit_async(
            {TopicPartition("orders", 0): 1, TopicPartition(REFUNDS, 0): 0}
        ).result().all()
        yield
    for one in (slow, newcomer, *everybody):
        one.leave()


def unsettled(channel: KafkaAsChannel, admin: AdminClient, slow: GroupMember) -> GroupMember:
    """A member that waits for one which does not hear that it should join again."""
    slow.join()
    slow.commit({TopicPartition("orders", 0): 2})
    newcomer = member(channel, "rebalancing", "newcomer", ["orders"], patience_ms=300_000)

    def is_rebalancing() -> bool:
        newcomer.poll()
        [group] = admin.describe_consumer_groups(["rebalancing"]).values()
        return group.state == "PreparingRebalance"

    until(is_rebalancing, seconds=DEADLINE_S, awaited="a rebalance")
    return newcomer


def restore(admin: AdminClient) -> None:
    """The groups that the tests change."""
    offsets = {
        "simple": {
            TopicPartition("orders", 0): 3,
            TopicPartition("orders", 1): OffsetAndMetadata(9, "", 0),
            TopicPartition(REFUNDS, 1): 0,
        },
        "archive": {TopicPartition(INVOICES, 0): 4, TopicPartition(INVOICES, 1): 1},
        'odd, "name"': {TopicPartition("orders", 2): 1},
        "below-0": {TopicPartition("orders", 0): -1, TopicPartition("orders", 1): -2},
    }
    for group, of_group in offsets.items():
        admin.delete_consumer_group_offsets(group, [TopicPartition("orders", n) for n in range(6)])
        admin.alter_consumer_group_offsets(group, of_group).all()


def member(
    channel: KafkaAsChannel,
    group: str,
    name: str,
    topics: list[str],
    instance: str | None = None,
    patience_ms: int = 30_000,
) -> GroupMember:
    options = MemberOptions(
        client_id=name,
        group_instance_id=instance,
        session_timeout_ms=patience_ms,
        rebalance_timeout_ms=patience_ms,
        heartbeat_interval_ms=300,
    )
    return GroupMember(channel, group, topics, COUNTS, options=options)


def modern_member(
    channel: KafkaAsChannel,
    topic_ids: Mapping[str, str],
    group: str,
    name: str,
    *more_topics: str,
    instance: str | None = None,
) -> GroupMember:
    options = MemberOptions(client_id=name, group_instance_id=instance, group_protocol="consumer")
    topics = ["orders", *more_topics]
    return GroupMember(channel, group, topics, topic_ids=topic_ids, options=options)
