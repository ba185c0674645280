from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import pytest

from group_coordinator.clients.channel import Body
from group_coordinator.codecs import wire
from group_coordinator.gateway.cluster.addresses import Address
from group_coordinator.gateway.job.transaction_ends import NoEndError, TransactionEnds
from tests.unit.gateway.groups_driver import Groups
from tests.unit.gateway.scripted_broker import Asked, ScriptedBroker
from tests.unit.gateway.stage import in_loop

GROUP = "billing"
PARTITION = 9  # of 50: by the hash of the name
COMMIT = {"transactionalId": "t", "groupId": GROUP, "producerId": 7, "producerEpoch": 2}
OPEN = {
    "errorCode": 0,
    "transactionalId": "t",
    "transactionState": "Ongoing",
    "producerId": 7,
    "producerEpoch": 2,
    "topics": [
        {"topic": "orders", "partitions": [0]},
        {"topic": "__consumer_offsets", "partitions": [3, PARTITION]},
    ],
}


class Broker(ScriptedBroker):
    """It says what a test tells it to, and keeps what it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.end = 1000
        self.error = 0
        self.knows = ["ApiVersions", "ListOffsets", "FindCoordinator", "DescribeTransactions"]
        self.finds_coordinators = [True]
        """At each question; the last one holds on."""
        self.transaction: Body = OPEN
        self.seen: list[Asked] = []
        self.answers = {
            "ApiVersions": self.versions,
            "ListOffsets": self.offsets,
            "FindCoordinator": self.coordinators,
            "DescribeTransactions": self.transactions,
        }

    def hang_up(self) -> None:
        for writer in self.writers:
            writer.transport.abort()

    def versions(self, asked: Asked) -> Body:
        self.seen.append(asked)
        keys = [
            {"apiKey": wire.api_key(name), "minVersion": 0, "maxVersion": 4} for name in self.knows
        ]
        return {"apiKeys": keys}

    def offsets(self, asked: Asked) -> Body:
        self.seen.append(asked)
        [topic] = asked.body["topics"]
        [wanted] = topic["partitions"]
        partition = wanted["partitionIndex"]
        found = {"partitionIndex": partition, "errorCode": self.error, "offset": self.end}
        return {"topics": [{"name": topic["name"], "partitions": [found]}]}

    def coordinators(self, asked: Asked) -> Body:
        self.seen.append(asked)
        [key] = asked.body["coordinatorKeys"]
        is_found = self.finds_coordinators[0]
        if len(self.finds_coordinators) > 1:
            self.finds_coordinators.pop(0)
        host, port = self.address
        found = {"key": key, "nodeId": 1, "host": host, "port": port}
        return {"coordinators": [found | {"errorCode": 0 if is_found else 15}]}

    def transactions(self, asked: Asked) -> Body:
        self.seen.append(asked)
        assert asked.body == {"transactionalIds": ["t"]}
        return {"transactionStates": [self.transaction]}


class Leaders:
    """One broker leads all; each look finds the next of `counts` as the number of partitions."""

    def __init__(self, broker: Broker, *counts: int) -> None:
        self._broker = broker
        self._counts = [*counts]

    def partition_count(self, name: str) -> int:
        assert name == "__consumer_offsets"
        return self._counts[0]

    def leader_of(self, topic: str, partition: int) -> Address | None:  # noqa: ARG002
        return self._broker.address

    def addresses_of(self, node_id: int | None) -> Sequence[Address]:
        assert node_id is None
        return [self._broker.address]

    async def look_for(self, names: Collection[str] = (), topic_ids: Collection[str] = ()) -> None:
        assert (names, topic_ids) == (["__consumer_offsets"], ())
        if len(self._counts) > 1:
            self._counts.pop(0)


@in_loop
async def test_the_leader_of_the_groups_partition_says_where_it_ends() -> None:
    async with Broker() as broker:
        ends = TransactionEnds(Leaders(broker, 50))

        assert await ends.end_for(COMMIT, 3) == 1000
        broker.end = 1007
        assert await ends.end_for(COMMIT, 3) == 1007
        ends.close()

    # The end first: a marker of what is open after that cannot stand before it.
    assert [asked.api for asked in broker.seen] == [
        *("ApiVersions", "ListOffsets", "FindCoordinator", "DescribeTransactions"),
        *("ListOffsets", "DescribeTransactions"),
    ]
    asked = broker.seen[1].body
    [topic] = asked["topics"]
    [wanted] = topic["partitions"]
    assert topic["name"] == "__consumer_offsets"
    assert wanted["partitionIndex"] == PARTITION
    assert wanted["timestamp"] == -1
    assert asked["isolationLevel"] == 0


@in_loop
async def test_a_topic_that_is_not_there_yet_is_made() -> None:
    async with Broker() as broker:
        ends = TransactionEnds(Leaders(broker, 0, 50))

        assert await ends.end_for(COMMIT, 3) == 1000
        ends.close()

    assert [asked.api for asked in broker.seen][:3] == [
        "ApiVersions",
        "FindCoordinator",
        "ListOffsets",
    ]


@in_loop
async def test_a_leader_that_hung_up_is_asked_on_a_new_connection() -> None:
    async with Broker() as broker:
        ends = TransactionEnds(Leaders(broker, 50))
        await ends.end_for(COMMIT, 3)

        broker.hang_up()

        assert await ends.end_for(COMMIT, 3) == 1000
        ends.close()


@in_loop
async def test_a_leader_that_says_it_is_none_is_believed() -> None:
    async with Broker() as broker:
        broker.error = 6
        ends = TransactionEnds(Leaders(broker, 50))

        with pytest.raises(
            NoEndError, match="no broker returns the end offset of the partition of group"
        ):
            await ends.end_for(COMMIT, 3)
        ends.close()


@in_loop
async def test_without_a_broker_the_end_is_not_known() -> None:
    async with Broker() as broker:
        leaders = Leaders(broker, 50)
    ends = TransactionEnds(leaders)

    with pytest.raises(NoEndError):
        await ends.end_for(COMMIT, 3)


@pytest.mark.parametrize(("empty", "code"), [("transactionalId", 42), ("groupId", 24)])
@in_loop
async def test_a_commit_without_a_name_needs_no_broker(empty: str, code: int) -> None:
    async with Broker() as broker:
        ends = TransactionEnds(Leaders(broker, 50))

        with pytest.raises(NoEndError) as refused:
            await ends.end_for(COMMIT | {empty: ""}, 3)
        ends.close()

    assert refused.value.code == code
    assert broker.seen == []


def described(**state: Any) -> Body:
    return OPEN | state


@pytest.mark.parametrize(
    ("transaction", "version", "code"),
    [
        (described(producerId=8), 3, 49),
        (described(errorCode=105, producerId=-1, producerEpoch=-1, topics=[]), 3, 49),
        (described(producerEpoch=3, transactionState="CompleteAbort", topics=[]), 3, 47),
        (described(transactionState="PrepareAbort"), 3, 51),
        (described(transactionState="PrepareCommit", topics=[]), 3, 51),
        (described(transactionState="CompleteCommit", topics=[]), 3, 48),
        (described(transactionState="CompleteCommit", topics=[]), 4, 120),
        (described(topics=[{"topic": "__consumer_offsets", "partitions": [3]}]), 3, 48),
        (described(topics=[{"topic": "orders", "partitions": [PARTITION]}]), 3, 48),
    ],
)
@in_loop
async def test_a_commit_whose_transaction_is_not_open_is_refused_as_brokers_do(
    transaction: Body, version: int, code: int
) -> None:
    async with Broker() as broker:
        broker.transaction = transaction
        ends = TransactionEnds(Leaders(broker, 50))

        with pytest.raises(NoEndError, match="transaction t is not open") as caught:
            await ends.end_for(COMMIT, version)
        ends.close()

    assert caught.value.code == code


@in_loop
async def test_a_coordinator_that_has_moved_is_looked_for_again() -> None:
    async with Broker() as broker:
        ends = TransactionEnds(Leaders(broker, 50))
        await ends.end_for(COMMIT, 3)
        broker.finds_coordinators = [False, True]
        broker.transaction = described(errorCode=16)

        with pytest.raises(NoEndError) as caught:
            await ends.end_for(COMMIT, 3)
        broker.transaction = OPEN

        assert caught.value.code == 15
        assert await ends.end_for(COMMIT, 3) == 1000
        ends.close()

    assert [asked.api for asked in broker.seen].count("FindCoordinator") == 4


@pytest.mark.parametrize(
    ("transaction", "knows"),
    [
        (
            described(errorCode=53, topics=[]),
            ["ListOffsets", "FindCoordinator", "DescribeTransactions"],
        ),
        (OPEN, ["ListOffsets", "FindCoordinator"]),
    ],
)
@in_loop
async def test_where_nobody_tells_the_commit_may_wait(transaction: Body, knows: list[str]) -> None:
    async with Broker() as broker:
        broker.transaction, broker.knows = transaction, knows
        ends = TransactionEnds(Leaders(broker, 50))

        assert await ends.end_for(COMMIT, 3) == 1000
        ends.close()


@in_loop
async def test_the_job_does_not_hear_of_a_commit_that_comes_too_late() -> None:
    groups = Groups()
    offset = {"partitionIndex": 0, "committedOffset": 42}
    topics = [{"name": name, "partitions": [offset]} for name in ("orders", "nowhere")]
    async with Broker() as broker:
        groups.topics.leader = broker.address
        groups.topics.brokers = [broker.address]
        broker.transaction = described(transactionState="CompleteAbort", topics=[])
        answer = await groups.ask("TxnOffsetCommit", 3, **COMMIT, topics=topics)
        groups.ends.close()

    codes = {topic["name"]: topic["partitions"][0]["errorCode"] for topic in answer["topics"]}
    assert codes == {"orders": 48, "nowhere": 3}
    assert groups.job.asked == []


@in_loop
async def test_offsets_of_a_transaction_say_where_its_markers_can_begin() -> None:
    groups = Groups()
    topics = [{"name": "orders", "partitions": [{"partitionIndex": 0, "committedOffset": 42}]}]
    async with Broker() as broker:
        groups.topics.leader = broker.address
        groups.topics.brokers = [broker.address]
        answer = await groups.ask("TxnOffsetCommit", 3, **COMMIT, topics=topics)
        groups.ends.close()

    assert answer["topics"][0]["partitions"] == [{"partitionIndex": 0, "errorCode": 0}]
    [asked] = groups.job.asked
    assert asked.body["markersEndOffset"] == 1000
