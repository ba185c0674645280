from __future__ import annotations

import asyncio
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest

from group_coordinator.codecs import wire
from group_coordinator.gateway.cluster.addresses import Address
from group_coordinator.gateway.job.questions import Body
from group_coordinator.gateway.job.transaction_ends import EndUnknownError, TransactionEnds
from tests.unit.gateway.groups_driver import Groups, in_loop

GROUP = "billing"
PARTITION = 9  # of 50: by the hash of the name


class Broker:
    """A node over a real socket; it says what a test tells it to, and keeps what it was asked."""

    def __init__(self) -> None:
        self.address = Address("127.0.0.1", 0)
        self.end = 1000
        self.error = 0
        self.asked: list[tuple[str, Body]] = []
        self._writers: list[StreamWriter] = []

    async def serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        self._writers.append(writer)
        while size := int.from_bytes(await reader.read(4)):
            frame = await reader.readexactly(size)
            header = wire.request_header(frame)
            api = wire.api_name(header.api_key)
            assert api is not None
            body = wire.decode(f"{api}Request", header.version, frame, header.body_at)
            self.asked.append((api, body))
            answer = getattr(self, f"on_{api}")(body)
            writer.write(wire.response(api, header.version, header.correlation_id, answer))
        writer.close()

    def hang_up(self) -> None:
        for writer in self._writers:
            writer.transport.abort()

    def on_ApiVersions(self, _: Body) -> Body:  # noqa: N802
        names = ("ApiVersions", "ListOffsets", "FindCoordinator")
        keys = [{"apiKey": wire.api_key(name), "minVersion": 0, "maxVersion": 4} for name in names]
        return {"apiKeys": keys}

    def on_ListOffsets(self, body: Body) -> Body:  # noqa: N802
        [topic] = body["topics"]
        [wanted] = topic["partitions"]
        found = {
            "partitionIndex": wanted["partitionIndex"],
            "errorCode": self.error,
            "offset": self.end,
        }
        return {"topics": [{"name": topic["name"], "partitions": [found]}]}

    def on_FindCoordinator(self, _: Body) -> Body:  # noqa: N802
        return {"errorCode": 15, "coordinators": []}


@asynccontextmanager
async def running() -> AsyncIterator[Broker]:
    broker = Broker()
    server = await asyncio.start_server(broker.serve, "127.0.0.1", 0)
    broker.address = Address(*server.sockets[0].getsockname())
    try:
        yield broker
    finally:
        broker.hang_up()
        server.close()


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

    async def look_again(self) -> None:
        if len(self._counts) > 1:
            self._counts.pop(0)


@in_loop
async def test_the_leader_of_the_groups_partition_says_where_it_ends() -> None:
    async with running() as broker:
        ends = TransactionEnds(Leaders(broker, 50))

        assert await ends.end_of(GROUP) == 1000
        broker.end = 1007
        assert await ends.end_of(GROUP) == 1007
        ends.close()

    assert [api for api, _ in broker.asked] == ["ApiVersions", "ListOffsets", "ListOffsets"]
    [topic] = broker.asked[1][1]["topics"]
    [wanted] = topic["partitions"]
    assert topic["name"] == "__consumer_offsets"
    assert wanted["partitionIndex"] == PARTITION
    assert wanted["timestamp"] == -1
    assert broker.asked[1][1]["isolationLevel"] == 0


@in_loop
async def test_a_topic_that_is_not_there_yet_is_made() -> None:
    async with running() as broker:
        ends = TransactionEnds(Leaders(broker, 0, 50))

        assert await ends.end_of(GROUP) == 1000
        ends.close()

    assert [api for api, _ in broker.asked] == ["ApiVersions", "FindCoordinator", "ListOffsets"]


@in_loop
async def test_a_leader_that_hung_up_is_asked_on_a_new_connection() -> None:
    async with running() as broker:
        ends = TransactionEnds(Leaders(broker, 50))
        await ends.end_of(GROUP)

        broker.hang_up()

        assert await ends.end_of(GROUP) == 1000
        ends.close()


@in_loop
async def test_a_leader_that_says_it_is_none_is_believed() -> None:
    async with running() as broker:
        broker.error = 6
        ends = TransactionEnds(Leaders(broker, 50))

        with pytest.raises(EndUnknownError, match="no broker says where the partition of group"):
            await ends.end_of(GROUP)
        ends.close()


@in_loop
async def test_without_a_broker_the_end_is_not_known() -> None:
    async with running() as broker:
        leaders = Leaders(broker, 50)
    ends = TransactionEnds(leaders)

    with pytest.raises(EndUnknownError):
        await ends.end_of(GROUP)


@in_loop
async def test_offsets_of_a_transaction_say_where_its_markers_can_begin() -> None:
    groups = Groups()
    topics = [{"name": "orders", "partitions": [{"partitionIndex": 0, "committedOffset": 42}]}]
    async with running() as broker:
        groups.topics.leader = broker.address
        answer = await groups.ask(
            "TxnOffsetCommit",
            3,
            transactionalId="t",
            groupId=GROUP,
            producerId=7,
            producerEpoch=0,
            topics=topics,
        )

    assert answer["topics"][0]["partitions"] == [{"partitionIndex": 0, "errorCode": 0}]
    [asked] = groups.job.asked
    assert asked.body["markersEndOffset"] == 1000
