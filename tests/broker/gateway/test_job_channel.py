from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.admin import NewTopic

from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.gateway.job.job_channel import (
    ChannelTopics,
    GroupRequest,
    JobChannel,
    NoAnswerError,
)
from group_coordinator.gateway.job.sightings import Sighting, SightingKind
from group_coordinator.gateway.login import Caller
from group_coordinator.local.broker import EmbeddedBroker

pytestmark = pytest.mark.kafka

EVENTS, RESPONSES = "channel-events", "channel-responses"
CALLER = Caller("billing", "/10.0.0.7", "User:billing", None)


class Job:
    """Its two topics, seen from the other side."""

    def __init__(self, bootstrap_servers: str) -> None:
        self._events = KafkaConsumer(
            EVENTS,
            bootstrap_servers=bootstrap_servers,
            auto_offset_reset="earliest",
            consumer_timeout_ms=20_000,
        )
        self._responses = KafkaProducer(bootstrap_servers=bootstrap_servers)

    def event(self) -> tuple[str, dict[str, Any]]:
        record = next(self._events)
        return record.key.decode(), json.loads(record.value)

    def respond(self, event: dict[str, Any], group_id: str, **body: Any) -> None:
        response = {key: event[key] for key in ("api", "version", "correlationId")}
        value = json.dumps(response | {"groupId": group_id, "at": 1000, "body": body}).encode()
        partition = event["replyPartition"]
        self._responses.send(RESPONSES, key=group_id.encode(), value=value, partition=partition)
        self._responses.flush()

    def close(self) -> None:
        self._events.close()
        self._responses.close()


def question(group_id: str, timeout_s: float = 20, **body: Any) -> GroupRequest:
    body = {"groupId": group_id, "generationId": 1, "memberId": "m"} | body
    return GroupRequest("Heartbeat", 4, group_id, body, CALLER, timeout_s)


def test_the_job_is_asked_and_answers_once_its_topics_are_there(broker: EmbeddedBroker) -> None:
    asyncio.run(story(broker.bootstrap_servers))


async def story(bootstrap_servers: str) -> None:
    seen: list[Sighting] = []
    channel = JobChannel(
        Connection(bootstrap_servers),
        ChannelTopics(EVENTS, RESPONSES, 10_000),
        answer_timeout_ms=9_000,
        on_sighting=seen.append,
    )
    channel.start()
    try:
        # Without topics nobody waits for an answer.
        await refused(channel, question("billing"), 15)
        assert not channel.is_reading
        await asyncio.to_thread(create_topics, bootstrap_servers)
        await channel.until_reading(20)
        assert channel.is_reading
        job = await asyncio.to_thread(Job, bootstrap_servers)
        await answered(channel, job, seen)
        await refused(channel, question("billing", memberId="m" * 10_000), 42)
        await others_are_sent(channel, job, seen)
        job.close()
    finally:
        await asyncio.to_thread(channel.close)


async def answered(channel: JobChannel, job: Job, seen: list[Sighting]) -> None:
    billing, audit = channel.ask(question("billing")), channel.ask(question("audit"))
    assert channel.open_count == 2
    events = dict([await asyncio.to_thread(job.event), await asyncio.to_thread(job.event)])
    assert {key: value for key, value in events["billing"].items() if key not in DRAWN} == {
        "api": "Heartbeat",
        "version": 4,
        "clientId": "billing",
        "clientHost": "/10.0.0.7",
        "principal": "User:billing",
        "body": {"groupId": "billing", "generationId": 1, "memberId": "m"},
    }

    others = events["audit"] | {"correlationId": "somebody-elses"}
    job.respond(others, "elsewhere", errorCode=27)
    job.respond(events["audit"], "audit", errorCode=25)
    job.respond(events["audit"], "audit", errorCode=0)
    job.respond(events["billing"], "billing", errorCode=0)

    assert [await billing, await audit] == [{"errorCode": 0}, {"errorCode": 25}]
    assert channel.open_count == 0
    assert Sighting("elsewhere", 1000, SightingKind.CHANGED) in seen
    assert Sighting("billing", 1000, SightingKind.THERE) in seen


async def others_are_sent(channel: JobChannel, job: Job, seen: list[Sighting]) -> None:
    """Events that are too long with their keys, or for the topic, and other events."""
    long, billing = channel.ask(question("k" * 5_000)), channel.ask(question("billing"))
    key, event = await asyncio.to_thread(job.event)
    job.respond(event, key, errorCode=0)
    assert await billing == {"errorCode": 0}
    with pytest.raises(NoAnswerError, match="INVALID_REQUEST"):
        await long

    await refused(channel, question("billing", memberId="m" * 9_000), 42)
    await answered(channel, job, seen)


DRAWN = {"correlationId", "replyPartition"}


async def refused(channel: JobChannel, asked: GroupRequest, code: int) -> None:
    with pytest.raises(NoAnswerError) as caught:
        async with asyncio.timeout(1):
            await channel.ask(asked)
    assert caught.value.code == code


def create_topics(bootstrap_servers: str) -> None:
    admin = KafkaAdminClient(bootstrap_servers=bootstrap_servers)
    events = NewTopic(EVENTS, 2, 1, topic_configs={"max.message.bytes": "7000"})
    admin.create_topics([events, NewTopic(RESPONSES, 3, 1)])
    admin.close()
