"""The channel while no cluster is there; tests/broker/gateway has it at work."""

from __future__ import annotations

import asyncio
import time
from queue import Queue
from threading import Event
from typing import Any

import pytest

from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.errors import BrokerUnreachableError
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.gateway.job import job_channel
from group_coordinator.gateway.job.events_out import EventsOut, OutgoingEvent, WaitingEvents
from group_coordinator.gateway.job.job_channel import (
    ChannelTopics,
    GroupRequest,
    JobChannel,
    NoAnswerError,
    PendingRequests,
    ReceivedResponse,
    RecordsIn,
    read,
)
from group_coordinator.gateway.job.sightings import Sighting, SightingKind
from group_coordinator.gateway.login import Caller
from tests.unit.gateway.scripted_broker import API_VERSIONS, Asked, ScriptedBroker
from tests.unit.gateway.stage import in_loop

BILLING = "User:billing"
NOBODY_LISTENS = Connection("127.0.0.1:1")
CALLER = Caller("billing", "/10.0.0.7", "User:billing", None)
HEARTBEAT = GroupRequest("Heartbeat", 4, "billing", {"groupId": "billing"}, CALLER, 20)


@in_loop
async def test_without_a_cluster_clients_hear_at_once_that_there_is_no_coordinator() -> None:
    topics = ChannelTopics("events", "responses", 10_000)
    channel = JobChannel(
        NOBODY_LISTENS, topics, answer_timeout_ms=9_000, on_sighting=lambda _: None
    )
    channel.start()

    await channel.until_reading(0.05)
    with pytest.raises(NoAnswerError) as caught:
        async with asyncio.timeout(1):
            await channel.ask(HEARTBEAT)

    assert caught.value.code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert not channel.is_reading
    await asyncio.to_thread(channel.close)


class TroubledReader:
    """Each reader has its end: while it looks for partitions, or "reads" and then that."""

    ends = Queue[str]()
    numbers = (0,)

    def __init__(self, *_: object, **_options: object) -> None:
        self._end = self.ends.get_nowait()

    def partitions_of(self, _topic: str) -> list[int]:
        if not self._end.startswith("reads, then "):
            self.poll_records(0)
        return [0]

    def begin(self, _partitions: list[int]) -> None: ...
    def close(self) -> None: ...

    def poll_records(self, _timeout_ms: int) -> list[object]:
        text = self._end.removeprefix("reads, then ")
        raise ValueError if text == "end" else BrokerUnreachableError(text)


def test_the_log_has_each_failure_of_a_topic_once_until_it_is_read(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(job_channel, "ResponseReader", TroubledReader)
    monkeypatch.setattr(job_channel, "_RETRY_S", 0)
    for end in ("gone", "gone", "denied", "gone", "gone", "reads, then gone", "gone", "end"):
        TroubledReader.ends.put(end)

    with pytest.raises(ValueError, match=r"^$"):
        RecordsIn(NOBODY_LISTENS, "events", list)._run(Event())  # noqa: SLF001 - without its thread

    words = [record.message.removeprefix("events cannot be read: ") for record in caplog.records]
    assert words == ["gone", "denied", "gone", "gone"]


@pytest.fixture
def failures() -> Queue[tuple[str, ErrorCode]]:
    return Queue()


@pytest.fixture
def events(failures: Queue[tuple[str, ErrorCode]]) -> EventsOut:
    return EventsOut(
        NOBODY_LISTENS,
        "events",
        timeout_ms=1_000,
        max_event_bytes=10_000,
        on_failure=lambda correlation_id, code: failures.put((correlation_id, code)),
    )


def test_an_unwritten_event_fails(
    events: EventsOut, failures: Queue[tuple[str, ErrorCode]]
) -> None:
    events.start()

    assert events.put(OutgoingEvent("c-1", "billing", b"{}", time.monotonic() + 20, BILLING))

    assert failures.get(timeout=20) == ("c-1", ErrorCode.COORDINATOR_NOT_AVAILABLE)
    events.close()


def test_an_event_whose_client_was_told_to_repeat_it_is_not_written(
    events: EventsOut, failures: Queue[tuple[str, ErrorCode]]
) -> None:
    events.put(OutgoingEvent("c-1", "billing", b"{}", time.monotonic() - 1, BILLING))
    events.start()

    assert failures.get(timeout=20) == ("c-1", ErrorCode.COORDINATOR_NOT_AVAILABLE)
    events.close()


def waits(client: str, size: int = 2) -> OutgoingEvent:
    return OutgoingEvent("c", "billing", b"x" * size, time.monotonic() + 20, client)


def test_a_client_may_have_a_quarter_of_what_may_wait_and_all_of_them_four() -> None:
    events = WaitingEvents()
    clients = [f"User:{number}" for number in range(5)]
    taken = [sum(events.put(waits(client, 1_048_576)) for _ in range(40)) for client in clients]

    assert taken == [17, 17, 17, 14, 0]


def test_nor_more_events_than_a_moment_brings() -> None:
    events = WaitingEvents()
    clients = [f"User:{number}" for number in range(5)]
    taken = [sum(events.put(waits(client)) for _ in range(2_600)) for client in clients]

    assert taken == [2_500, 2_500, 2_500, 2_500, 0]


def test_nobody_waits_behind_all_events_of_another_client() -> None:
    events = WaitingEvents()
    for size in (11, 12, 13):
        events.put(waits("User:hog", size))
    events.put(waits("User:billing", 21))
    events.put(waits("User:audit", 31))
    events.put(waits("User:billing", 22))

    sent = [events.take(0.0) for _ in range(7)]
    assert [event and len(event.value) for event in sent] == [11, 21, 31, 12, 22, 13, None]


def writer_versions(_asked: Asked) -> dict[str, Any]:
    """Of Produce, Metadata, ApiVersions and InitProducerId."""
    served = ((0, 3, 8), (3, 0, 12), (18, 0, 4), (22, 0, 4))
    keys = [{"apiKey": key, "minVersion": low, "maxVersion": high} for key, low, high in served]
    return {**API_VERSIONS, "apiKeys": keys}


def written(asked: Asked) -> None:
    topics = [
        {
            "name": t["name"],
            "partitionResponses": [{"index": p["index"]} for p in t["partitionData"]],
        }
        for t in asked.body["topicData"]
    ]
    asked.answer({"responses": topics})


def event(correlation_id: str) -> OutgoingEvent:
    return OutgoingEvent(correlation_id, "billing", b"{}", time.monotonic() + 20, BILLING)


@in_loop
async def test_after_a_long_outage_events_go_on(failures: Queue[tuple[str, ErrorCode]]) -> None:
    async with ScriptedBroker() as broker:
        broker.answers["ApiVersions"] = writer_versions
        broker.answers["InitProducerId"] = lambda _asked: {"producerId": 7, "producerEpoch": 0}
        out = EventsOut(
            Connection(f"{broker.address.host}:{broker.address.port}"),
            "orders",
            timeout_ms=1_000,  # for two attempts, also on a busy machine
            max_event_bytes=10_000,
            on_failure=lambda correlation_id, code: failures.put((correlation_id, code)),
        )
        out.start()
        out.put(event("tried twice"))
        (await broker.asked()).hang_up()
        await broker.asked()
        failed = await asyncio.to_thread(failures.get, timeout=5)
        out.put(event("afterwards"))
        written(await broker.asked())
        await asyncio.to_thread(out.close)

        assert failed == ("tried twice", ErrorCode.COORDINATOR_NOT_AVAILABLE)
        assert failures.empty()


JOINED = (
    b'{"api":"JoinGroup","groupId":"billing","at":7,"correlationId":"%b","body":{"errorCode":0}}'
)
SEEN = Sighting("billing", 7, SightingKind.CHANGED)
DEEP = b"[" * 100_000


def test_an_answer_to_this_gateway_and_one_to_another() -> None:
    assert read(JOINED % b"mine-1", "mine") == ReceivedResponse("mine-1", {"errorCode": 0}, SEEN)
    assert read(JOINED % b"other-1", "mine") == ReceivedResponse(None, {}, SEEN)


@pytest.mark.parametrize(
    "value",
    [b"", b"\xff", b"[]", DEEP, b'{"groupId":"\xff"}', b'{"groupId":"billing","body":' + DEEP],
)
def test_what_is_no_response_is_logged(value: bytes, caplog: pytest.LogCaptureFixture) -> None:
    assert read(value, "mine") is None
    [line] = caplog.messages
    assert line.startswith("not a response of the coordinator: b")


@pytest.mark.parametrize("body", [b'{"errorCode":"\xff"}', b'{"errorCode":"none"}'])
def test_an_answer_to_another_that_cannot_be_read_says_nothing(body: bytes) -> None:
    value = b'{"api":"JoinGroup","groupId":"billing","correlationId":"other-1","body":%b}' % body

    assert read(value, "mine") is None


@in_loop
async def test_an_answer_reaches_the_one_who_asked() -> None:
    questions = PendingRequests("gw")
    first_id, first = questions.add(30)
    second_id, second = questions.add(30)

    assert (first_id, second_id) == ("gw-1", "gw-2")
    questions.answer("gw-2", {"errorCode": 0})

    assert await second == {"errorCode": 0}
    assert not first.done()
    assert len(questions) == 1


@in_loop
async def test_answers_that_come_twice_or_to_nobody_are_dropped() -> None:
    questions = PendingRequests("gw")
    _, answer = questions.add(30)

    questions.answer("gw-1", {"errorCode": 0})
    questions.answer("gw-1", {"errorCode": 27})
    questions.answer("gw-9", {"errorCode": 0})

    assert await answer == {"errorCode": 0}


@in_loop
async def test_a_question_without_an_answer_fails_in_time() -> None:
    questions = PendingRequests("gw")
    _, late = questions.add(0.01)
    _, patient = questions.add(30)

    with pytest.raises(NoAnswerError) as caught:
        await late

    assert caught.value.code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert not patient.done()
    questions.answer("gw-1", {"errorCode": 0})


@in_loop
async def test_a_question_that_cannot_be_sent_says_why() -> None:
    questions = PendingRequests("gw")
    _, answer = questions.add(30)

    questions.fail("gw-1", NoAnswerError(ErrorCode.INVALID_REQUEST))

    with pytest.raises(NoAnswerError) as caught:
        await answer
    assert caught.value.code == ErrorCode.INVALID_REQUEST


@in_loop
async def test_who_goes_is_forgotten() -> None:
    questions = PendingRequests("gw")
    _, answer = questions.add(30)

    answer.cancel()
    await asyncio.sleep(0)

    assert len(questions) == 0
    questions.answer("gw-1", {"errorCode": 0})
