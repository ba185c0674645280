"""What a client of a gateway tries on the coordinator's own topics, by the wire and with real clients."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections.abc import Awaitable, Callable
from contextlib import closing
from typing import Any

import confluent_kafka
from kafka import KafkaConsumer, TopicPartition

from group_coordinator.gateway.rights.own_topics import Closed
from tests.broker.gateway.ask import Ask
from tests.end_to_end.gateway_story import RawClient, Scene

EVENTS, RESPONSES = "group-events", "group-responses"
TOPIC = 2
DENIED = 29
_PATIENCE_S = 30.0
Come = Callable[[], Awaitable[RawClient]]
"""Somebody new at the gateway, logged in."""


def closed_but_to(*users: str) -> Closed:
    return Closed(frozenset({EVENTS, RESPONSES}), frozenset(f"User:{user}" for user in users))


def read(scene: Scene, topic: str) -> list[Ask]:
    """By name and by id."""
    [partition] = [{"partition": 0, "fetchOffset": 0, "partitionMaxBytes": 1_000_000}]
    topic_id = scene.view.topics[topic].topic_id
    rest: dict[str, Any] = {"maxWaitMs": 100, "sessionEpoch": -1, "maxBytes": 1_000_000}
    return [
        Ask("Fetch", 12, rest | {"topics": [{"topic": topic, "partitions": [partition]}]}),
        Ask("Fetch", 15, rest | {"topics": [{"topicId": topic_id, "partitions": [partition]}]}),
    ]


def written(version: int, *topics: str) -> Ask:
    """One record of a batch without any is enough to be refused; a broker would say 87 to it."""
    data = [{"index": 0, "records": b64encode(bytes(80)).decode()}]
    body = [{"name": topic, "partitionData": data} for topic in topics]
    return Ask("Produce", version, {"acks": -1, "timeoutMs": 1_000, "topicData": body})


async def is_hung_up_on(come: Come, ask: Ask) -> bool:
    client = await come()
    try:
        await client.ask(*ask)
    except (OSError, EOFError):
        return True
    finally:
        client.writer.close()
    return False


async def nothing_is_read_or_written(scene: Scene, come: Come) -> None:
    for topic in (EVENTS, RESPONSES):
        raw = [*read(scene, topic), *(written(version, topic) for version in (3, 9, 11))]
        raw.append(written(11, "orders", topic))
        partitions = [{"partitionIndex": 0, "timestamp": -1}]
        raw.append(Ask("ListOffsets", 7, {"topics": [{"name": topic, "partitions": partitions}]}))
        raw.append(Ask("DeleteRecords", 2, {"topics": [{"name": topic, "partitions": [{}]}]}))
        for ask in raw:
            assert await is_hung_up_on(come, ask), ask


async def nothing_is_changed(scene: Scene, come: Come) -> None:
    client, topic_id = await come(), scene.view.topics[EVENTS].topic_id
    config = {"name": "retention.ms", "value": "1", "configOperation": 0}
    resource = {"resourceType": TOPIC, "resourceName": EVENTS, "configs": [config]}
    for api, version, body, field in (
        ("DeleteTopics", 5, {"topicNames": [EVENTS], "timeoutMs": 9_000}, "responses"),
        ("DeleteTopics", 6, {"topics": [{"topicId": topic_id}], "timeoutMs": 9_000}, "responses"),
        ("CreatePartitions", 3, {"topics": [{"name": EVENTS, "count": 99}]}, "results"),
        ("IncrementalAlterConfigs", 1, {"resources": [resource]}, "responses"),
    ):
        answer = await client.ask(api, version, body)
        assert [one["errorCode"] for one in answer[field]] == [DENIED]
    shown = await client.ask("Metadata", 12, {"topics": None})
    assert {EVENTS, RESPONSES}.isdisjoint(one["name"] for one in shown["topics"])
    client.writer.close()


def told_to_real_clients(servers: str, options: dict[str, Any]) -> list[int]:
    """The errors that a producer and a consumer of librdkafka end with."""
    told: list[int] = []
    client = {"bootstrap.servers": servers, **options}
    producer = confluent_kafka.Producer(client)
    producer.produce(EVENTS, b"{}", callback=lambda error, _message: told.append(error.code()))
    producer.flush(_PATIENCE_S)
    consumer = confluent_kafka.Consumer({**client, "group.id": "thief"})
    with closing(consumer):
        consumer.subscribe([EVENTS])
        message = consumer.poll(_PATIENCE_S)
        assert message is not None
        told.append(message.error().code())
    return told


async def ends(servers: str, options: dict[str, Any]) -> dict[TopicPartition, int]:
    """Of both topics, asked at the broker."""

    def asked() -> dict[TopicPartition, int]:
        with closing(KafkaConsumer(bootstrap_servers=servers, **options)) as consumer:
            partitions = [
                TopicPartition(topic, number)
                for topic in (EVENTS, RESPONSES)
                for number in consumer.partitions_for_topic(topic) or ()
            ]
            found: dict[TopicPartition, int] = consumer.end_offsets(partitions)
            return found

    return await asyncio.to_thread(asked)
