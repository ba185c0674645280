"""A side that does not read holds the other one back; what waits in between is bounded."""

from __future__ import annotations

import asyncio
import tracemalloc

import pytest

from group_coordinator.codecs import wire
from group_coordinator.gateway.connections import admission
from group_coordinator.gateway.connections.admission import Share, Shares
from group_coordinator.gateway.connections.tcp_connection import WRITE_BUFFER_BYTES
from tests.unit.gateway.scripted_broker import Asked
from tests.unit.gateway.stage import FETCH, HEARTBEAT, Stage, in_loop, on_stage, staged, until

ANSWER = bytes(range(256)) * 4096
ANSWERS = 60
ASKED = 1_000
DESCRIBED = {
    "groups": [
        {
            "errorCode": 0,
            "groupId": "billing",
            "groupState": "Stable",
            "protocolType": "consumer",
            "protocolData": "x" * 30_000,
            "members": [],
        }
    ]
}
MOST_BETWEEN = WRITE_BUFFER_BYTES + 3 * 256 * 1024
"""What one side may leave in the gateway: its buffer, and a chunk that was on its way."""


def pending(asked: Asked) -> int:
    """bytes that the broker could not send yet."""
    return asked.writer.transport.get_write_buffer_size()


async def stalled(asked: Asked) -> int:
    """Wait until the broker gets rid of nothing any more; returns what it is left with."""
    left = -1
    while left != pending(asked):
        left = pending(asked)
        await asyncio.sleep(0.1)
    return left


@on_stage()
async def test_a_client_that_does_not_read_holds_the_broker_back_for_later(stage: Stage) -> None:
    client = await stage.client()
    client.writer.transport.pause_reading()
    for _ in range(ANSWERS):
        client.ask("Fetch", 12, FETCH)
    asked = [await stage.broker.asked() for _ in range(ANSWERS)]
    tracemalloc.start()
    for each in asked:
        each.answer_bytes(ANSWER)
    before = tracemalloc.get_traced_memory()[0]
    left = await stalled(asked[0])
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()

    # The kernel's buffers take some as well.
    assert left > (ANSWERS / 2) * len(ANSWER)
    assert grown < MOST_BETWEEN
    client.writer.transport.resume_reading()
    for each in asked:
        frame = await client.frame()
        assert int.from_bytes(frame[:4]) == each.correlation_id
        assert frame[4:] == ANSWER


@on_stage()
async def test_a_broker_that_does_not_read_holds_the_client_back(stage: Stage) -> None:
    client = await stage.client()
    client.ask("Fetch", 12, FETCH)
    upstream = (await stage.broker.asked()).writer
    upstream.transport.pause_reading()
    records = "QUJD" * 300_000
    produce = {
        "acks": 0,
        "timeoutMs": 100,
        "topicData": [{"name": "orders", "partitionData": [{"index": 0, "records": records}]}],
    }
    request = wire.request("Produce", 9, 7, "a-client", produce)
    tracemalloc.start()
    for _ in range(ANSWERS):
        client.writer.write(request)
    before = tracemalloc.get_traced_memory()[0]
    transport = client.writer.transport
    left = -1
    while left != transport.get_write_buffer_size():
        left = transport.get_write_buffer_size()
        await asyncio.sleep(0.1)
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()

    assert left > ANSWERS / 2 * len(request)
    assert grown < MOST_BETWEEN
    upstream.transport.resume_reading()
    for _ in range(ANSWERS):
        assert (await stage.broker.asked()).frame == request[4:]


@on_stage()
async def test_a_late_answer_of_the_job_holds_back_the_brokers_unread(stage: Stage) -> None:
    client = await stage.client()
    client.ask("Heartbeat", 4, HEARTBEAT)
    for _ in range(ANSWERS):
        client.ask("Fetch", 12, FETCH)
    question = await stage.job.asked()
    asked = [await stage.broker.asked() for _ in range(ANSWERS)]
    for each in asked:
        each.answer_bytes(ANSWER)
    left = await stalled(asked[0])
    question.answer.set_result({"errorCode": 27})

    assert left > (ANSWERS / 2) * len(ANSWER)
    assert (await client.answer("Heartbeat", 4))[1]["errorCode"] == 27
    for _ in asked:
        assert (await client.frame())[4:] == ANSWER


@on_stage()
async def test_of_a_client_that_reads_no_answers_a_hundred_requests_are_taken(stage: Stage) -> None:
    client = await stage.client()
    client.writer.transport.pause_reading()
    for _ in range(ASKED):
        client.ask("DescribeGroups", 0, {"groups": ["billing"]})
    answering = asyncio.create_task(describe_all(stage))
    taken = -1
    while taken != len(stage.job.questions):
        taken = len(stage.job.questions)
        await asyncio.sleep(0.1)
    open_requests = stage.gateway.gauges().open_requests

    assert 100 <= taken < ASKED
    assert open_requests == 100
    client.writer.transport.resume_reading()
    for _ in range(ASKED):
        assert (await client.answer("DescribeGroups", 0))[1] == DESCRIBED
    await answering


@in_loop
async def test_answers_that_cannot_leave_cost_the_client_with_most_of_them_its_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(admission, "AFTER_LOGIN_BYTES", 1024 * 1024)

    async with staged() as stage:
        hog, other = await stage.client(), await stage.client()
        for client, asks in ((other, 2), (hog, 60)):
            client.ask("JoinGroup", 5, {"groupId": "billing", "memberId": "m"})
            for _ in range(asks):
                client.ask("DescribeGroups", 0, {"groups": ["billing"]})
            await stage.job.asked(len(stage.job.questions) + asks)
        for question in stage.job.questions:
            if question.api == "DescribeGroups":
                question.answer.set_result(DESCRIBED)
        closed = stage.gateway.counters.closed
        await until(lambda: closed.total() > 0)
        stage.job.questions[0].answer.set_result({"errorCode": 27})

        assert await hog.is_hung_up()
        assert dict(closed) == {"unfinished-requests": 1}
        assert (await other.answer("JoinGroup", 5))[1]["errorCode"] == 27
        assert [(await other.answer("DescribeGroups", 0))[1] for _ in "12"] == [DESCRIBED] * 2


@in_loop
async def test_answers_that_have_left_count_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "AFTER_LOGIN_BYTES", 100_000)

    async with staged() as stage:
        for client in [await stage.client() for _ in range(4)]:
            client.ask("Fetch", 12, FETCH)
            fetch = await stage.broker.asked()
            for _ in range(2):
                client.ask("DescribeGroups", 0, {"groups": ["billing"]})
            await stage.job.asked(len(stage.job.questions) + 1)
            for question in stage.job.questions[-2:]:
                question.answer.set_result(DESCRIBED)
            await until(lambda: stage.gateway.gauges().open_requests == 3)
            fetch.answer({})
            await client.answer("Fetch", 12)
            assert [(await client.answer("DescribeGroups", 0))[1] for _ in "12"] == [DESCRIBED] * 2

        assert stage.gateway.counters.closed == {}


async def describe_all(stage: Stage) -> None:
    for number in range(ASKED):
        (await stage.job.asked(number)).answer.set_result(DESCRIBED)


OTHER_HOST = "127.0.0.2"
GROUPS = {"groups": ["billing" * 100]}
"""A request of 724 bytes."""


@on_stage(client_open_max_bytes=80000)
async def test_a_client_has_one_share_for_all_connections_and_others_go_on(stage: Stage) -> None:
    hogs = [await stage.client() for _ in range(4)]
    for hog in hogs:
        for _ in range(50):
            hog.ask("DescribeGroups", 0, GROUPS)
    await until(lambda: stage.gateway.gauges().throttled == len(hogs))
    of_hogs = len(stage.job.questions)
    other = await stage.client(host=OTHER_HOST)
    other.ask("Heartbeat", 4, HEARTBEAT)
    question = await stage.job.asked(of_hogs)
    question.answer.set_result({"errorCode": 0})

    # Each counts 6,816 bytes: eleven of them are below 80,000, and so one more is taken.
    assert (of_hogs, question.api) == (12, "Heartbeat")
    assert (await other.answer("Heartbeat", 4))[1]["errorCode"] == 0
    for number in range(201):
        asked = await stage.job.asked(number)
        assert stage.gateway.gauges().open_requests <= 12
        if asked is not question:
            asked.answer.set_result(DESCRIBED)
    for hog in hogs:
        for _ in range(50):
            assert (await hog.answer("DescribeGroups", 0))[1] == DESCRIBED


@in_loop
async def test_a_request_that_took_long_is_followed_by_a_rest() -> None:
    keys = {"coordinatorKeys": [f"group-{number}" for number in range(29_000)]}
    async with staged() as stage:
        client = await stage.client()
        long = wire.request("FindCoordinator", 4, 1, "c", keys)
        client.writer.write(long + wire.request("Heartbeat", 4, 2, "c", HEARTBEAT))
        await stage.job.asked()

        assert stage.gateway.gauges().throttled == 1


@in_loop
async def test_a_client_rests_on_all_its_connections_and_others_do_not() -> None:
    shares = Shares(1_000)
    went: list[str] = []
    first = Share(shares, lambda: "a", lambda: went.append("first"))
    second = Share(shares, lambda: "a", lambda: went.append("second"))
    other = Share(shares, lambda: "b", lambda: went.append("other"))
    first.note_taken(0.009)
    assert not second.must_wait()
    first.note_taken(0.02)
    second.note_taken(0.02)
    begun_s = asyncio.get_running_loop().time()
    assert (first.must_wait(), second.must_wait(), other.must_wait()) == (True, True, False)
    await until(lambda: len(went) == 2)

    assert went == ["first", "second"]
    assert asyncio.get_running_loop().time() - begun_s >= 0.03


@on_stage(client_open_max_bytes=1)
async def test_members_that_wait_for_each_other_are_not_held_back(stage: Stage) -> None:
    for number in range(3):
        member = await stage.client()
        member.ask("JoinGroup", 5, {"groupId": "billing", "memberId": "m"})
        assert (await stage.job.asked(number)).api == "JoinGroup"
    assert stage.gateway.gauges().parked_requests == 3


@on_stage(client_open_max_bytes=1)
async def test_a_connection_that_ends_gives_back_its_part_of_the_share(stage: Stage) -> None:
    first, second = await stage.client(), await stage.client()
    first.ask("DescribeGroups", 0, GROUPS)
    await stage.job.asked()
    second.ask("Heartbeat", 4, HEARTBEAT)
    await until(lambda: stage.gateway.gauges().throttled == 1)
    first.leave()

    assert (await stage.job.asked(1)).api == "Heartbeat"


@on_stage(has_authorizer=True)
async def test_what_members_say_is_not_kept_while_they_wait_for_their_group(stage: Stage) -> None:
    stage.broker.answers["Heartbeat"] = lambda _asked: {"errorCode": 25}
    member = await stage.client()
    protocols = [{"name": "range", "metadata": "QUJD" * 125_000}]
    join = {"groupId": "billing", "memberId": "m", "protocols": protocols}
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(20):
        member.ask("JoinGroup", 5, join)
        await stage.job.asked()
        stage.job.questions.clear()
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()

    assert stage.gateway.gauges().parked_requests == 20
    assert grown < 2 * 500_000
