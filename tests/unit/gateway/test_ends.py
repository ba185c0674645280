from __future__ import annotations

import asyncio
import gc
import logging
import socket
import time
from typing import Any

import pytest

from group_coordinator.codecs import wire
from group_coordinator.codecs.wire import WireError
from group_coordinator.gateway.cluster.addresses import Address
from group_coordinator.gateway.connections import tcp_connection
from tests.unit.gateway.scripted_broker import NODE
from tests.unit.gateway.stage import (
    FETCH,
    HEARTBEAT,
    LOOPBACK,
    Client,
    Stage,
    in_loop,
    on_stage,
    staged,
    until,
)

JOIN = {
    "groupId": "billing",
    "sessionTimeoutMs": 45_000,
    "rebalanceTimeoutMs": 300_000,
    "memberId": "",
    "protocolType": "consumer",
    "protocols": [],
}
NOBODY = Address(LOOPBACK, 1)


async def answered(client: Client) -> int:
    code: int = (await client.asks("ApiVersions", 0))["errorCode"]
    return code


@on_stage()
async def test_a_broker_that_goes_takes_with_it_the_clients_that_wait_for_it(stage: Stage) -> None:
    client = await stage.client()
    client.ask("Fetch", 12, FETCH)
    (await stage.broker.asked()).hang_up()

    assert await client.is_hung_up()


@pytest.mark.parametrize(
    ("still_s", "worked_s", "is_served"),
    [(0.0, 0.0, True), (0.5, 0.0, False), (0.5, 60.0, True)],
    ids=["no pause", "a pause", "busy"],
)
@in_loop
async def test_what_came_while_the_process_stood_still_is_not_read(
    monkeypatch: pytest.MonkeyPatch, still_s: float, worked_s: float, *, is_served: bool
) -> None:
    worked = [0.0]
    monkeypatch.setattr(tcp_connection, "process_time", lambda: worked[-1])
    monkeypatch.setattr(tcp_connection, "_STOOD_STILL_S", 0.4)
    monkeypatch.setattr(tcp_connection, "_TICK_S", 0.01)
    monkeypatch.setattr(tcp_connection, "_MOMENT_S", 0.2)
    async with staged() as stage:
        client = await stage.client()
        await asyncio.sleep(0.6)  # an idle gateway did not stand still
        assert await answered(client) == 0
        client.ask("Heartbeat", 4, HEARTBEAT)
        late = socket.create_connection((LOOPBACK, stage.port))  # accepted by the kernel alone
        late.sendall(wire.request("Heartbeat", 4, 1, "late", HEARTBEAT))
        time.sleep(still_s)  # noqa: ASYNC251 - as SIGSTOP, or a pause of the machine
        worked.append(worked_s)
        if is_served:
            (await stage.job.asked()).answer.set_result({"errorCode": 0})
            assert (await client.answer("Heartbeat", 4))[1]["errorCode"] == 0
        else:
            assert await client.is_hung_up()
            await asyncio.sleep(0.3)
            assert stage.job.questions == []
            assert await answered(await stage.client()) == 0
        late.close()


@on_stage()
async def test_a_client_that_waits_for_the_job_stays_and_finds_a_broker_again(stage: Stage) -> None:
    client = await stage.client()
    assert await answered(client) == 0
    client.ask("Heartbeat", 4, HEARTBEAT)
    question = await stage.job.asked()
    [upstream] = [one for one in stage.broker.writers if one is not None][-1:]
    for writer in tuple(stage.broker.writers):
        writer.transport.abort()
    await until(lambda: upstream not in stage.broker.writers)
    question.answer.set_result({"errorCode": 0})

    assert (await client.answer("Heartbeat", 4))[1]["errorCode"] == 0
    assert await answered(client) == 0


@on_stage(has_authorizer=True)
async def test_a_client_whose_answer_needs_a_broker_that_went_is_hung_up_on(stage: Stage) -> None:
    """Which groups it may see is asked when the job has answered."""
    client = await stage.client()
    client.ask("ListGroups", 5)
    question = await stage.job.asked()
    [connection] = stage.gateway._connections  # noqa: SLF001 - it sees that the broker went
    for writer in tuple(stage.broker.writers):
        writer.transport.abort()
    await until(lambda: connection.pipeline.upstream is None)
    question.answer.set_result({"groups": [{"groupId": "billing"}]})

    assert await client.is_hung_up()


@in_loop
async def test_clients_of_an_absent_node_are_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    async with staged() as stage:
        stage.view.learn_broker(NODE, NOBODY)
        for _ in range(2):
            client = await stage.client(NODE)
            client.ask("ApiVersions", 0)
            assert await client.is_hung_up()
    [line] = [one.getMessage() for one in caplog.records if one.levelno >= logging.WARNING]
    assert line.startswith("Clients are disconnected: node 1 cannot be reached: 127.0.0.1:1: ")


@on_stage()
async def test_newcomers_get_any_broker_that_answers(stage: Stage) -> None:
    stage.view.brokers = {7: NOBODY, **stage.view.brokers}
    stage.view._bootstrap = (NOBODY,)  # noqa: SLF001 - it went after the start

    assert await answered(await stage.client()) == 0


@in_loop
async def test_an_unasked_answer_ends_the_connection(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        async with staged() as stage:
            client = await stage.client()
            client.ask("Fetch", 12, FETCH)
            asked = await stage.broker.asked()
            asked.correlation_id += 1
            asked.answer_bytes(b"\0\0")

            assert await client.is_hung_up()
    assert "the response to Fetch has correlation id 2, not 1" in caplog.text


@in_loop
async def test_a_broken_answer_ends_the_connection(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        async with staged() as stage:
            client = await stage.client()
            client.ask("DescribeCluster", 1)
            (await stage.broker.asked()).answer_bytes(b"\0\0\0\0")

            assert await client.is_hung_up()
    assert "DescribeClusterResponse v1" in caplog.text


@on_stage()
async def test_what_a_client_said_before_it_left_reaches_the_broker(stage: Stage) -> None:
    client = await stage.client()
    client.ask("Fetch", 12, FETCH)
    upstream = (await stage.broker.asked()).writer
    upstream.transport.pause_reading()
    client.ask("Fetch", 12, FETCH)
    partition = {"index": 0, "records": "QUJD" * 200_000}
    topics = [{"name": "orders", "partitionData": [partition]}]
    for _ in range(8):
        client.ask("Produce", 9, {"acks": 0, "timeoutMs": 100, "topicData": topics})
    client.writer.close()
    await asyncio.sleep(0.1)
    upstream.transport.resume_reading()

    asked = [(await stage.broker.asked()).api for _ in range(9)]
    assert asked == ["Fetch", *["Produce"] * 8]


@in_loop
async def test_a_defect_leaves_the_others_alone(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        async with staged() as stage:
            unlucky, other = await stage.client(), await stage.client()
            stage.job.defect = ZeroDivisionError("planted")
            unlucky.ask("Heartbeat", 4, HEARTBEAT)

            assert await unlucky.is_hung_up()
            assert await answered(other) == 0
    assert "ZeroDivisionError: planted" in caplog.text


@in_loop
async def test_a_defect_in_the_answer_for_one_client_is_told_and_leaves_the_others_alone(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.ERROR):
        async with staged() as stage:
            unlucky, other = await stage.client(), await stage.client()
            unlucky.ask("Heartbeat", 4, HEARTBEAT)
            (await stage.job.asked()).answer.set_exception(ZeroDivisionError("planted"))

            assert await unlucky.is_hung_up()
            assert await answered(other) == 0
    assert "ZeroDivisionError: planted" in caplog.text


@in_loop
async def test_a_defect_that_repeats_is_traced_once(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        async with staged() as stage:
            stage.job.defect = ZeroDivisionError("planted")
            for host in (LOOPBACK, LOOPBACK, "127.0.0.2", "127.0.0.2"):
                client = await stage.client(host=host)
                client.ask("Heartbeat", 4, HEARTBEAT)
                assert await client.is_hung_up()
            assert stage.gateway.counters.failed == 4
    assert [(one.getMessage(), bool(one.exc_info)) for one in caplog.records] == [
        ("Hung up on 127.0.0.1", True),
        ("Hung up on 127.0.0.1: ZeroDivisionError, as before", False),
        ("Hung up on 127.0.0.2: ZeroDivisionError, as before", False),
    ]


@in_loop
async def test_what_a_client_said_and_no_broker_can_be_asked_leaves_no_trace_of_a_defect(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING):
        async with staged() as stage:
            client = await stage.client()
            client.ask("Heartbeat", 4, HEARTBEAT)
            question = await stage.job.asked()
            question.answer.set_exception(WireError("groupId: 60000 bytes are too long"))

            assert await client.is_hung_up()
            counters = stage.gateway.counters
            assert (counters.malformed, counters.failed) == (1, 0)
    [line] = caplog.records
    assert (line.getMessage(), line.exc_info) == (
        "Hung up on 127.0.0.1: groupId: 60000 bytes are too long",
        None,
    )


@on_stage()
async def test_a_connection_with_a_defect_takes_nothing_more_from_its_broker(stage: Stage) -> None:
    """Nothing that comes has a place any more, and would meet another defect."""
    client = await stage.client()
    client.ask("Fetch", 12, FETCH)
    await stage.broker.asked()
    [connection] = stage.gateway._connections  # noqa: SLF001 - one of its lines fails
    upstream = connection.pipeline.upstream
    assert upstream is not None
    connection.line_failed(connection.client, ZeroDivisionError("planted"))

    assert not upstream.is_open
    assert await client.is_hung_up()


@pytest.mark.filterwarnings("error")
def test_a_defect_leaves_nothing_behind_of_the_request_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def scene() -> None:
        async with staged() as stage:
            ask = stage.job.answer

            def asked_once(*question: Any) -> asyncio.Future[dict[str, Any]]:
                if stage.job.questions:
                    raise ZeroDivisionError("planted")
                return ask(*question)

            monkeypatch.setattr(stage.job, "answer", asked_once)
            client = await stage.client()
            beats = [wire.request("Heartbeat", 4, number, None, HEARTBEAT) for number in (1, 2)]
            client.writer.write(b"".join(beats))

            assert await client.is_hung_up()
            assert len(stage.job.questions) == 1

    asyncio.run(scene())
    gc.collect()


@on_stage()
async def test_a_drain_waits_for_answers_but_not_for_joins_nor_new_ones(stage: Stage) -> None:
    idle, joining, busy = [await stage.client() for _ in range(3)]
    joining.ask("JoinGroup", 9, JOIN)
    busy.ask("Heartbeat", 4, HEARTBEAT)
    busy.ask("Fetch", 12, FETCH)
    beat, asked = await stage.job.asked(1), await stage.broker.asked()
    draining = asyncio.create_task(stage.gateway.drain(5.0))
    assert await idle.is_hung_up()
    assert await joining.is_hung_up()
    assert stage.gateway.drain_check() == "it is stopping"
    busy.ask("Heartbeat", 4, HEARTBEAT)
    with pytest.raises(ConnectionRefusedError):
        await stage.client()
    beat.answer.set_result({"errorCode": 0})
    asked.answer_bytes(b"\0fetched")

    assert (await busy.answer("Heartbeat", 4))[1]["errorCode"] == 0
    assert (await busy.frame())[5:] == b"fetched"
    assert await busy.is_hung_up()
    await draining
    assert len(stage.job.questions) == 2


@on_stage()
async def test_a_drain_ends_in_time_whoever_does_not_answer(stage: Stage) -> None:
    client = await stage.client()
    client.ask("Heartbeat", 4, HEARTBEAT)
    await stage.job.asked()
    begun_s = asyncio.get_running_loop().time()
    await stage.gateway.drain(0.2)

    assert 0.2 <= asyncio.get_running_loop().time() - begun_s < 2
    assert await client.is_hung_up()
    assert stage.gateway.gauges().connections == 0
