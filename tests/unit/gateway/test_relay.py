from __future__ import annotations

import asyncio
import logging
import socket
import struct

import pytest

from group_coordinator.codecs import wire
from tests.unit.gateway.scripted_broker import NODE
from tests.unit.gateway.stage import FETCH, HEARTBEAT, Stage, in_loop, on_stage, staged, until


def produce(acks: int, records: int = 10) -> dict[str, object]:
    data = "QUJD" * records
    partitions = [{"index": 0, "records": data}]
    return {
        "acks": acks,
        "timeoutMs": 1_000,
        "topicData": [{"name": "orders", "partitionData": partitions}],
    }


@on_stage()
async def test_what_is_not_about_groups_is_the_brokers_byte_by_byte(stage: Stage) -> None:
    client = await stage.client()
    client.ask("Fetch", 12, FETCH)
    asked = await stage.broker.asked()
    sent = asked.answer_bytes(bytes(range(256)) * 20_000)

    assert (asked.api, asked.version, asked.client_id) == ("Fetch", 12, "a-client")
    assert await client.frame() == sent[4:]


@on_stage()
async def test_answers_leave_in_the_order_of_requests(stage: Stage) -> None:
    client = await stage.client(NODE)
    ids = [
        client.ask("Fetch", 12, FETCH),
        client.ask("Heartbeat", 4, HEARTBEAT),
        client.ask("Fetch", 12, FETCH),
        client.ask("Heartbeat", 4, HEARTBEAT | {"memberId": "m-2"}),
    ]
    first, second = await stage.broker.asked(), await stage.broker.asked()
    # All are on their way before any is answered.
    beat, last = await stage.job.asked(0), await stage.job.asked(1)
    last.answer.set_result({"errorCode": 25})
    first.answer_bytes(b"\0first")
    second.answer_bytes(b"\0second")
    answers = [await client.frame()]
    beat.answer.set_result({"errorCode": 0})
    answers += [await client.frame() for _ in range(3)]

    assert [int.from_bytes(one[:4]) for one in answers] == ids
    assert answers[0][5:] == b"first"
    assert answers[2][5:] == b"second"
    assert wire.response_body("Heartbeat", 4, answers[3])[1]["errorCode"] == 25
    assert (beat.caller.node_id, beat.caller.client_host) == (NODE, "/127.0.0.1")


@on_stage()
async def test_produce_without_acks_wants_no_answer(stage: Stage) -> None:
    client = await stage.client()
    client.ask("Produce", 9, produce(0))
    client.ask("Produce", 3, produce(0))
    wanted = client.ask("Produce", 9, produce(-1))
    asked = [await stage.broker.asked() for _ in range(3)]
    asked[2].answer({"responses": []})

    assert [one.body["acks"] for one in asked] == [0, 0, -1]
    assert (await client.answer("Produce", 9))[0] == wanted


@on_stage()
async def test_a_produce_request_in_single_bytes_is_the_same_request(stage: Stage) -> None:
    client = await stage.client()
    client.writer.transport.get_extra_info("socket").setsockopt(
        socket.IPPROTO_TCP, socket.TCP_NODELAY, 1
    )
    body = produce(0) | {"transactionalId": "payments"}
    request = wire.request("Produce", 9, 5, "a-client", body)
    for byte in request:
        client.writer.write(bytes([byte]))
        await asyncio.sleep(0)
    asked = await stage.broker.asked()

    assert asked.frame == request[4:]
    assert asked.body["transactionalId"] == "payments"


@pytest.mark.parametrize("length", [b"\xff" * 9 + b"\x01", b"\xff" * 5])
@in_loop
async def test_a_produce_request_with_a_length_that_never_ends_closes_the_connection(
    length: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR, "group_coordinator"):
        async with staged() as stage:
            client = await stage.client()
            head = struct.pack(">ihhih", 1_000_000, 0, 9, 5, -1)
            client.writer.write(head + b"\0" + length)

            assert await client.reader.read() == b""
    assert caplog.records == []


@on_stage()
async def test_many_small_requests_at_once_and_their_answers(stage: Stage) -> None:
    client = await stage.client()
    ids = [client.ask("Produce", 9, produce(1)) for _ in range(1_000)]

    async def answers() -> None:
        for _ in ids:
            (await stage.broker.asked()).answer({"responses": []})

    answering = asyncio.create_task(answers())
    assert [(await client.answer("Produce", 9))[0] for _ in ids] == ids
    await answering


@on_stage()
async def test_no_more_than_a_hundred_requests_are_open(stage: Stage) -> None:
    client = await stage.client()
    ids = [client.ask("Heartbeat", 4, HEARTBEAT) for _ in range(250)]
    await stage.job.asked(99)
    await asyncio.sleep(0.05)
    open_at_once = len(stage.job.questions)
    for number in range(250):
        (await stage.job.asked(number)).answer.set_result({"errorCode": 0})

    assert open_at_once == 100
    assert [(await client.answer("Heartbeat", 4))[0] for _ in ids] == ids


@on_stage()
async def test_a_client_that_goes_is_forgotten(stage: Stage) -> None:
    client = await stage.client()
    client.ask(
        "JoinGroup",
        9,
        {
            "groupId": "billing",
            "sessionTimeoutMs": 45_000,
            "rebalanceTimeoutMs": 300_000,
            "memberId": "",
            "protocolType": "consumer",
            "protocols": [],
        },
    )
    client.ask("Fetch", 12, FETCH)
    question = await stage.job.asked()
    asked = await stage.broker.asked()
    gauges = stage.gateway.gauges()
    client.leave()
    await until(lambda: stage.gateway.gauges().connections == 0)

    assert (gauges.connections, gauges.open_requests, gauges.parked_requests) == (1, 2, 1)
    await until(question.answer.cancelled)
    assert stage.gateway.gauges().open_requests == 0
    await until(lambda: asked.writer not in stage.broker.writers)
