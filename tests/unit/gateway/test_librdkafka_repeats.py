"""A client that nobody here wrote, before a job that is slower than the gateway's timeouts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from confluent_kafka import Consumer, KafkaError, TopicPartition

from group_coordinator.gateway.cluster.addresses import Address
from group_coordinator.gateway.cluster.broker_access import BrokerAccess
from group_coordinator.gateway.cluster.cluster_view import ClusterView
from group_coordinator.gateway.gateway import Gateway, GatewayOptions
from tests.unit.gateway.groups_driver import Groups
from tests.unit.gateway.scripted_broker import ScriptedBroker
from tests.unit.gateway.stage import LOOPBACK, NEVER_MS, free_block, in_loop, until

ANSWER_TIMEOUT_MS = 300
COMMITS = (1, 2, 3)


class SlowGroups(Groups):
    """The job takes no event before all commits were repeated."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(answer_timeout_ms=ANSWER_TIMEOUT_MS)
        self._take = self.job.tell
        self._waiting: list[bytes] = []
        monkeypatch.setattr(self.job, "tell", self._waiting.append)

    async def answer_when(self, holds: Callable[[], bool]) -> None:
        await until(holds)
        for event in self._waiting:
            self._take(event)


@in_loop
async def test_repeated_commits_are_made_once_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    groups = SlowGroups(monkeypatch)
    async with ScriptedBroker() as broker:
        view = ClusterView([broker.address], NEVER_MS, BrokerAccess({}))
        await view.look_again()
        port = free_block()
        options = GatewayOptions(Address(LOOPBACK, port), LOOPBACK, NEVER_MS)
        gateway = Gateway(options, view, groups.apis)
        await gateway.open()

        client = asyncio.create_task(asyncio.to_thread(committed, f"{LOOPBACK}:{port}"))
        await groups.answer_when(lambda: requests(gateway) == 2 * len(COMMITS))
        results = await client

        await gateway.drain(0)
        view.close()
    assert results == [(None, [1]), (None, [2]), (None, [3])]
    commits = [asked.body for asked in groups.job.asked if asked.api == "OffsetCommit"]
    made = [body["topics"][0]["partitions"][0]["committedOffset"] for body in commits]
    assert made == [1, 2, 3]


def requests(gateway: Gateway) -> int:
    counted = gateway.counters.requests
    return sum(count for (api, *_), count in counted.items() if api == "OffsetCommit")


def committed(bootstrap_servers: str) -> list[tuple[KafkaError | None, list[int]]]:
    """What the client hears of three commits that it sends without waiting."""
    results: list[tuple[KafkaError | None, list[int]]] = []

    def heard(error: KafkaError | None, partitions: list[TopicPartition]) -> None:
        results.append((error, [each.offset for each in partitions]))

    consumer = Consumer(
        {"bootstrap.servers": bootstrap_servers, "group.id": "simple", "on_commit": heard}
    )
    for offset in COMMITS:
        consumer.commit(offsets=[TopicPartition("orders", 0, offset)], asynchronous=True)
    while len(results) < len(COMMITS):
        consumer.poll(0.05)
    consumer.close()
    return results
