from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import closing
from itertools import count
from typing import Any, TypeAlias

import pytest
from kafka import KafkaAdminClient
from kafka.admin import NewTopic

from group_coordinator.codecs import wire
from group_coordinator.gateway.cluster.addresses import Address
from group_coordinator.gateway.cluster.cluster_view import ClusterView
from group_coordinator.gateway.login import Caller
from group_coordinator.local.broker import EmbeddedBroker
from tests.broker.gateway.ask import Ask, Body
from tests.broker.gateway.conversation import everything, heartbeat
from tests.broker.gateway.frames import CLIENT_ID, PREFIX, Frame, frames
from tests.broker.gateway.settings_of_groups import altered, described
from tests.peers.assembled import InProcessGroups
from tests.peers.gateway import InProcessGateway
from tests.support.transactional_producer import TransactionalProducer
from tests.unit.gateway.groups_driver import answered

pytestmark = pytest.mark.kafka

Answering: TypeAlias = Callable[[Ask], Awaitable[Body]]
DRAWN = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$")
_MARKED = "consumer.session.timeout.ms"
PROPERTIES = {"group.initial.rebalance.delay.ms": "0"}


@pytest.fixture(scope="module")
def broker() -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker(properties=PROPERTIES) as started:
        admin = KafkaAdminClient(bootstrap_servers=started.bootstrap_servers)
        admin.create_topics([NewTopic("orders", 3, 1), NewTopic("payments", 1, 1)])
        admin.close()
        yield started


def test_gateway_and_broker_answer_alike(broker: EmbeddedBroker) -> None:
    theirs, ours = asyncio.run(both(broker, [*everything()]))

    assert ours == theirs


def test_commits_in_transactions_that_are_not_open_are_refused_alike(
    broker: EmbeddedBroker,
) -> None:
    with closing(TransactionalProducer(broker.bootstrap_servers, "billing")) as producer:
        producer.add("billed")
        producer.end(commits=True)
        # Succeeds only when the markers are written.
        producer.add("refunded")
        asks = [*transactional_commits(producer.producer_id, producer.epoch)]
        theirs, ours = asyncio.run(both(broker, asks))

    assert ours == theirs
    codes = [answer["topics"][0]["partitions"][0]["errorCode"] for *_, answer in ours]
    assert codes == [48, 48, 48, 48, 120, 49, 47, 0]


def transactional_commits(producer_id: int, epoch: int) -> Iterator[Ask]:
    """Of a transaction that has ended in all versions, of others' producers, and of the one that is open."""
    partition = {"partitionIndex": 0, "committedOffset": 1}
    body = {
        "transactionalId": "billing",
        "groupId": "billed",
        "producerId": producer_id,
        "producerEpoch": epoch,
        "topics": [{"name": "orders", "partitions": [partition]}],
    }
    for version in range(5):
        yield Ask("TxnOffsetCommit", version, body)
    yield Ask("TxnOffsetCommit", 3, body | {"producerId": producer_id + 1})
    yield Ask("TxnOffsetCommit", 3, body | {"producerEpoch": epoch + 1})
    yield Ask("TxnOffsetCommit", 3, body | {"groupId": "refunded"})


def test_odd_bytes_are_answered_alike(broker: EmbeddedBroker) -> None:
    sent = [*frames()]
    asyncio.run(groups_are_loaded(broker.port))
    with InProcessGateway(
        broker.bootstrap_servers, delay_s=(0, 0), group_initial_rebalance_delay_ms=0
    ) as gateway:
        port = int(gateway.bootstrap_servers.partition(":")[2])
        ours = asyncio.run(frames_answered(port, sent))
        theirs = asyncio.run(frames_answered(broker.port, sent))

    assert ours == theirs
    assert gateway.refused == []


async def groups_are_loaded(port: int) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)

    async def exchange(ask: Ask) -> Body:
        writer.write(wire.request(ask.api, ask.version, 7, CLIENT_ID, ask.body))
        size = int.from_bytes(await reader.readexactly(4))
        return wire.response_body(ask.api, ask.version, await reader.readexactly(size))[1]

    await coordinators_are_there(exchange, [heartbeat(0, f"{PREFIX}{each}") for each in range(500)])
    writer.close()


async def frames_answered(port: int, sent: Sequence[Frame]) -> list[Any]:
    """Requests, and their answers; "closed" where the connection is."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    found: list[Any] = []
    for frame in sent:
        writer.write(frame.data)
        try:
            size = int.from_bytes(await reader.readexactly(4))
            answer = wire.response_body(frame.api, frame.version, await reader.readexactly(size))[1]
            found.append((*frame[:3], in_order(replaced(without_drawn_ids(answer), {}))))
        except (asyncio.IncompleteReadError, ConnectionError):
            found.append((*frame[:3], "closed"))
            writer.close()
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.close()
    return found


def without_drawn_ids(value: Any) -> Any:
    """The same without the drawn part of member ids, groups of others, and the time of throttling."""
    if isinstance(value, dict):
        return {
            key: without_drawn_ids(each) for key, each in value.items() if key != "throttleTimeMs"
        }
    if isinstance(value, list):
        return [
            without_drawn_ids(each)
            for each in value
            if not isinstance(each, dict) or each.get("groupId", PREFIX).startswith(PREFIX)
        ]
    return DRAWN.sub("ID", value) if isinstance(value, str) else value


async def both(broker: EmbeddedBroker, asks: Sequence[Ask]) -> tuple[list[Any], list[Any]]:
    address = Address("127.0.0.1", broker.port)
    view = ClusterView([address], interval_ms=1000, lookup_interval_ms=1)
    await view.look_again()
    ids = {name: seen.topic_id for name, seen in view.topics.items()}
    reader, writer = await asyncio.open_connection("127.0.0.1", broker.port)

    async def exchange(ask: Ask) -> Body:
        writer.write(wire.request(ask.api, ask.version, 7, CLIENT_ID, ask.body))
        size = int.from_bytes(await reader.readexactly(4))
        frame = await reader.readexactly(size)
        return wire.response_body(ask.api, ask.version, frame)[1]

    ask_broker = waiting_for_changes(exchange)
    await coordinators_are_there(ask_broker, asks)
    groups = InProcessGroups(view, group_initial_rebalance_delay_ms=0)
    groups.learn_topics()
    ticking = asyncio.create_task(groups.job.tick())
    caller = Caller(CLIENT_ID, "/127.0.0.1", "User:ANONYMOUS", None)

    async def ask_gateway(ask: Ask) -> Body:
        sent = wire.encode(f"{ask.api}Request", ask.version, ask.body)
        body = wire.decode(f"{ask.api}Request", ask.version, sent)
        answer = await answered(groups.apis, view, ask.api, ask.version, body, caller)
        frame = wire.response(ask.api, ask.version, 7, answer)[4:]
        return wire.response_body(ask.api, ask.version, frame)[1]

    found = await said(ask_broker, asks, ids), await said(ask_gateway, asks, ids)
    ticking.cancel()
    writer.close()
    view.close()
    return found


async def coordinators_are_there(ask_broker: Answering, asks: Sequence[Ask]) -> None:
    """Brokers make __consumer_offsets when the first one asks for a coordinator, and load each partition for itself."""
    await ask_broker(Ask("FindCoordinator", 3, {"key": "billing", "keyType": 0}))
    for group_id in sorted({group_id for ask in asks for group_id in groups_of(ask)}):
        beat = heartbeat(4, group_id, memberId="nobody")
        async with asyncio.timeout(30):
            await once_loaded(ask_broker, beat)


async def once_loaded(ask_broker: Answering, beat: Ask) -> None:
    if (await ask_broker(beat))["errorCode"] in (14, 15, 16):
        await asyncio.sleep(0.02)
        await once_loaded(ask_broker, beat)


def waiting_for_changes(exchange: Answering) -> Answering:
    """A broker describes what its controller has changed a moment later: when one change more is seen, all before it are."""
    marks = count(45_000)

    async def ask_broker(ask: Ask) -> Body:
        answer = await exchange(ask)
        if ask.api == "IncrementalAlterConfigs":
            mark = str(next(marks))
            await exchange(altered(1, "marked", **{_MARKED: mark}))
            async with asyncio.timeout(30):
                await once_described(exchange, mark)
        return answer

    return ask_broker


async def once_described(exchange: Answering, mark: str) -> None:
    [group] = (await exchange(described(4, "marked", keys=[_MARKED])))["results"]
    if group["configs"][0]["value"] != mark:
        await asyncio.sleep(0.01)
        await once_described(exchange, mark)


def groups_of(ask: Ask) -> Iterator[str]:
    if ask.body.get("groupId"):
        yield ask.body["groupId"]
    yield from ask.body.get("groupsNames", ())


async def said(answering: Answering, asks: Sequence[Ask], topic_ids: dict[str, str]) -> list[Any]:
    """Questions and answers; member ids, which are drawn, get the names that they have in questions."""
    names = {f"${topic}": topic_id for topic, topic_id in topic_ids.items()}
    found = []
    for ask in asks:
        asked = replaced(ask.body, names)
        answer = await answering(ask._replace(body=asked))
        if answer.get("memberId"):
            names["$member"] = answer["memberId"]
        given = {name: text for text, name in names.items()}
        found.append((ask.api, ask.version, ask.body, in_order(replaced(answer, given))))
    return found


def replaced(value: Any, texts: dict[str, str]) -> Any:
    """The same with some texts in the place of others, also as keys of nothing; descriptions of settings are our own."""
    if isinstance(value, dict):
        return {
            key: replaced(bool(each) if key == "documentation" else each, texts)
            for key, each in value.items()
            if key != "throttleTimeMs"
        }
    if isinstance(value, list):
        return [replaced(each, texts) for each in value]
    return texts.get(value, value) if isinstance(value, str) else value


def in_order(answer: Any) -> Any:
    """Groups, topics and partitions of an answer come in no order: Kafka keeps them in hash tables."""
    if isinstance(answer, dict):
        return {key: in_order(each) for key, each in answer.items()}
    if isinstance(answer, list):
        return sorted(map(in_order, answer), key=str)
    return answer
