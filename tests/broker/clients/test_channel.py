from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from threading import Event, Thread
from typing import Any

import pytest
from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from msgspec import json

from group_coordinator.clients.channel import (
    Request,
    RequestChannel,
    ResponseReader,
    reply_partition_from_now,
)
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.errors import (
    BrokerUnreachableError,
    ChannelClosedError,
    RequestTimedOutError,
    TopicMissingError,
)
from group_coordinator.local.broker import EmbeddedBroker
from tests.broker.clients.topics import NewTopics, Topics, channel_of
from tests.support.until import until

pytestmark = pytest.mark.kafka

TIMEOUT_S = 20
Responses = list[dict[str, Any]]


def heartbeat(group: str) -> Request:
    return Request("Heartbeat", 4, group, {"groupId": group}, client_id="tester")


def answer(event: dict[str, Any]) -> Responses:
    """The response names the group of its event, so that a mix-up shows."""
    return [
        {
            "id": "events-0-1",
            "correlationId": event["correlationId"],
            "api": event["api"],
            "version": event["version"],
            "body": {"errorCode": 0, "of": event["body"]["groupId"]},
        }
    ]


def partition_from_now(broker: EmbeddedBroker, topics: Topics, lot: int) -> ResponseReader:
    return reply_partition_from_now(Connection(broker.bootstrap_servers), *topics, lot)


class Responder:
    """Answers every event by a script."""

    def __init__(
        self, bootstrap_servers: str, topics: Topics, script: Callable[[dict[str, Any]], Responses]
    ) -> None:
        self.events: list[dict[str, Any]] = []
        self.keys: list[bytes] = []
        self._script = script
        self._topic = topics.responses
        self._stopping = Event()
        self._producer = KafkaProducer(bootstrap_servers=bootstrap_servers)
        self._consumer = KafkaConsumer(
            bootstrap_servers=bootstrap_servers, enable_auto_commit=False
        )
        self._consumer.assign([TopicPartition(topics.events, number) for number in range(3)])
        for partition, end in self._consumer.end_offsets(self._consumer.assignment()).items():
            self._consumer.seek(partition, end)
        self._thread = Thread(target=self._run)
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join()
        self._producer.close()

    def _run(self) -> None:
        while not self._stopping.is_set():
            for records in self._consumer.poll(timeout_ms=50).values():
                for record in records:
                    event = json.decode(record.value)
                    self.events.append(event)
                    self.keys.append(record.key)
                    for response in self._script(event):
                        self._producer.send(
                            self._topic,
                            key=record.key,
                            value=json.encode(response),
                            partition=event["replyPartition"],
                        )
        self._consumer.close()


@pytest.fixture
def respond(
    broker: EmbeddedBroker, topics: Topics
) -> Iterator[Callable[[Callable[[dict[str, Any]], Responses]], Responder]]:
    started: list[Responder] = []

    def start(script: Callable[[dict[str, Any]], Responses]) -> Responder:
        started.append(Responder(broker.bootstrap_servers, topics, script))
        return started[-1]

    yield start
    for responder in started:
        responder.stop()


Respond = Callable[[Callable[[dict[str, Any]], Responses]], Responder]


def test_an_event_as_the_interface_wants_it(channel: RequestChannel, respond: Respond) -> None:
    responder = respond(answer)

    body = channel.send(heartbeat("billing")).result(TIMEOUT_S)

    assert body == {"errorCode": 0, "of": "billing"}
    [event] = responder.events
    assert event.pop("correlationId")
    assert event.pop("replyPartition") in {0, 1, 2}
    assert event == {
        "api": "Heartbeat",
        "version": 4,
        "clientId": "tester",
        "clientHost": "/127.0.0.1",
        "principal": "User:ANONYMOUS",
        "body": {"groupId": "billing"},
    }
    assert responder.keys == [b"billing"]


def test_many_requests_of_many_threads_each_get_their_own_answer(
    channel: RequestChannel, respond: Respond
) -> None:
    respond(answer)
    groups = [f"group-{number}" for number in range(400)]

    def ask(group: str) -> Any:
        return channel.send(heartbeat(group)).result(TIMEOUT_S)["of"]

    with ThreadPoolExecutor(max_workers=8) as threads:
        assert list(threads.map(ask, groups)) == groups


def test_answers_in_another_order_and_twice(channel: RequestChannel, respond: Respond) -> None:
    held: Responses = []

    def backwards_and_twice(event: dict[str, Any]) -> Responses:
        held.extend(answer(event))
        return held[::-1] + held if len(held) == 3 else []

    respond(backwards_and_twice)

    replies = [channel.send(heartbeat(group)) for group in ("a", "b", "c")]

    assert [reply.result(TIMEOUT_S)["of"] for reply in replies] == ["a", "b", "c"]


def test_what_is_not_ours_is_passed_by(channel: RequestChannel, respond: Respond) -> None:
    def noisily(event: dict[str, Any]) -> Responses:
        [ours] = answer(event)
        spoilt = f"{ours['correlationId']} is not in the right place"
        return [
            {**ours, "correlationId": "somebody-else-1"},
            {**ours, "correlationId": None},
            {**ours, "correlationId": 7, "note": spoilt},
            {"body": spoilt},
            ours,
        ]

    respond(noisily)

    assert channel.send(heartbeat("billing")).result(TIMEOUT_S)["of"] == "billing"


def test_two_channels_do_not_mix(
    broker: EmbeddedBroker, topics: Topics, channel: RequestChannel, respond: Respond
) -> None:
    respond(answer)
    with channel_of(broker, topics) as other:
        replies = [one.send(heartbeat(name)) for one, name in ((channel, "a"), (other, "b"))]

        assert [reply.result(TIMEOUT_S)["of"] for reply in replies] == ["a", "b"]


def test_what_was_there_before_is_not_read(broker: EmbeddedBroker, new_topics: NewTopics) -> None:
    topics = new_topics()
    producer = KafkaProducer(bootstrap_servers=broker.bootstrap_servers)
    for number in range(900):
        producer.send(topics.responses, value=b"old", partition=number % 3)
    producer.flush()

    with closing(partition_from_now(broker, topics, lot=1)) as replies:
        producer.send(topics.responses, value=b"new", partition=1)
        producer.close()

        arrived = until(
            lambda: list(replies.poll(100)), seconds=TIMEOUT_S, awaited="the new answer"
        )
    assert arrived == [b"new"]


def test_nobody_answers(channel: RequestChannel) -> None:
    reply = channel.send(heartbeat("billing"), timeout_ms=300)

    with pytest.raises(RequestTimedOutError, match=r"Heartbeat v4 for group 'billing'.* in 0.3 s"):
        reply.result(TIMEOUT_S)


def test_a_lost_request_does_not_harm_the_next(channel: RequestChannel, respond: Respond) -> None:
    with pytest.raises(RequestTimedOutError):
        channel.send(heartbeat("billing"), timeout_ms=200).result(TIMEOUT_S)

    respond(answer)

    assert channel.send(heartbeat("orders")).result(TIMEOUT_S)["of"] == "orders"


def test_a_closed_channel_answers_nobody(broker: EmbeddedBroker, topics: Topics) -> None:
    channel = channel_of(broker, topics)
    reply = channel.send(heartbeat("billing"))

    channel.close()

    with pytest.raises(ChannelClosedError):
        reply.result(TIMEOUT_S)
    with pytest.raises(ChannelClosedError):
        channel.send(heartbeat("billing"))


def test_a_fork_has_no_channel(channel: RequestChannel, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("os.getpid", lambda: 0)
        with pytest.raises(ChannelClosedError, match="after a fork"):
            channel.send(heartbeat("billing"))


@pytest.mark.parametrize("missing", ["events", "responses"])
def test_topics_that_nobody_made(broker: EmbeddedBroker, topics: Topics, missing: str) -> None:
    with pytest.raises(TopicMissingError, match=r"topic nowhere .*`group-coordinator init`"):
        partition_from_now(broker, topics._replace(**{missing: "nowhere"}), lot=0)


def test_no_broker(topics: Topics) -> None:
    with pytest.raises(BrokerUnreachableError, match="Connection refused"):
        RequestChannel(
            Connection("127.0.0.1:1"),
            events_topic=topics.events,
            responses_topic=topics.responses,
            request_timeout_ms=1_000,
        )


def test_a_channel_reads_one_partition_which_its_requests_name_whatever_the_group(
    broker: EmbeddedBroker, topics: Topics, channel: RequestChannel, respond: Respond
) -> None:
    responder = respond(answer)
    groups = [f"group-{number}" for number in range(60)]

    replies = [channel.send(heartbeat(group)) for group in groups]

    assert [reply.result(TIMEOUT_S)["of"] for reply in replies] == groups
    [named] = {event["replyPartition"] for event in responder.events}
    with closing(partition_from_now(broker, topics, lot=named + 1)) as another:
        channel.send(heartbeat("group-0")).result(TIMEOUT_S)
        assert another.numbers != [named]
        assert list(another.poll(500)) == []


def test_clients_share_the_partitions_evenly(broker: EmbeddedBroker, topics: Topics) -> None:
    drawn = [partition_from_now(broker, topics, lot) for lot in range(6)]

    assert [partition.numbers for partition in drawn] == [[0], [1], [2], [0], [1], [2]]
    for partition in drawn:
        partition.close()
