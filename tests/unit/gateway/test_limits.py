from __future__ import annotations

import asyncio
import base64
import logging
import struct
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from group_coordinator.codecs import wire
from group_coordinator.gateway.api_versions import APIS
from tests.unit.gateway.scripted_broker import NODE
from tests.unit.gateway.stage import Stage, in_loop, on_stage, settled, staged, until

LARGEST = 100 * 1024 * 1024
MIB = 1024 * 1024


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\x00", "it speaks TLS"),
        (b"GET /metrics HTTP/1.1\r\n\r\n", "it speaks HTTP"),
        (struct.pack(">ihhi", 7, 18, 0, 1), "a frame of 7 bytes"),
        (struct.pack(">ihhi", LARGEST + 1, 18, 0, 1), "a frame of 104857601 bytes"),
        (struct.pack(">ihhi", -5, 18, 0, 1), "a frame of -5 bytes"),
        (struct.pack(">ihhi", 8, 76, 1, 1), "API 76 in version 1 is not served"),
        (struct.pack(">ihhi", 8, 999, 0, 1), "API 999 in version 0 is not served"),
        (struct.pack(">ihhi", 8, 11, 10, 1), "JoinGroup in version 10 is not served"),
        (struct.pack(">ihhi", 8, 12, 0, 1), "Heartbeat|RequestHeader"),
        (struct.pack(">ihhi", 8_193, 18, 3, 1), "ApiVersions with 8193 bytes"),
        (struct.pack(">ihhi", 8_193, 17, 1, 1), "SaslHandshake with 8193 bytes"),
        (struct.pack(">ihhi", 524_289, 36, 2, 1), "SaslAuthenticate with 524289 bytes"),
        (
            struct.pack(">ihhi", MIB + 1, 15, 0, 1),
            "DescribeGroups with 1048577 bytes, more than 1048576",
        ),
        (struct.pack(">ihhi", MIB + 1, 8, 9, 1), "OffsetCommit with 1048577 bytes"),
        (struct.pack(">ihhi", MIB + 1, 9, 9, 1), "OffsetFetch with 1048577 bytes"),
        (struct.pack(">ihhi", MIB + 1, 32, 1, 1), "DescribeConfigs with 1048577 bytes"),
        (struct.pack(">ihhihh", 12, 0, 9, 1, 50, 7), "ends before its required fields"),
    ],
)
@in_loop
async def test_what_no_client_sends_ends_the_connection_and_is_told_once(
    caplog: pytest.LogCaptureFixture, sent: bytes, said: str
) -> None:
    with caplog.at_level(logging.WARNING):
        async with staged() as stage:
            for _ in range(2):
                client = await stage.client()
                client.writer.write(sent)
                assert await client.is_hung_up()
            assert stage.gateway.counters.malformed == 2
            assert stage.broker.is_idle()
            # Others do not suffer.
            other = await stage.client()
            assert (await other.asks("ApiVersions", 0))["errorCode"] == 0

    [line] = [one.getMessage() for one in caplog.records]
    assert line.startswith("Hung up on 127.0.0.1: ")
    assert any(part in line for part in said.split("|"))


@pytest.mark.parametrize(
    ("api", "version"),
    [
        ("JoinGroup", 9),
        ("JoinGroup", 0),
        ("SyncGroup", 5),
        ("Heartbeat", 0),
        ("LeaveGroup", 5),
        ("OffsetFetch", 7),
        ("OffsetDelete", 0),
        ("ConsumerGroupHeartbeat", 1),
    ],
)
@on_stage()
async def test_a_too_large_request_is_answered(stage: Stage, api: str, version: int) -> None:
    client = await stage.client()
    head = struct.pack(">ihhi", MIB + 1, wire.api_key(api), version, 7)
    client.writer.write(head + b"\xff" * (MIB - 8))
    answered = asyncio.create_task(client.answer(api, version))
    await until(lambda: stage.gateway.counters.requests.total() == 1)
    await settled()
    is_early = answered.done()
    client.writer.write(b"\xff")
    client.ask("ListGroups", 0)

    correlation_id, answer = await answered
    assert (is_early, correlation_id, answer["errorCode"]) == (False, 7, 42)
    await stage.job.asked()
    assert [question.api for question in stage.job.questions] == ["ListGroups"]


@on_stage()
async def test_a_request_as_large_as_an_event_may_be_is_read(stage: Stage) -> None:
    client = await stage.client()
    join = wire.request("JoinGroup", 5, 1, "a-client", {"groupId": "billing"})
    metadata = base64.b64encode(bytes(MIB + 4 - len(join) - 2 - 1 - 4)).decode()
    protocols = [{"name": "r", "metadata": metadata}]
    client.ask("JoinGroup", 5, {"groupId": "billing", "protocols": protocols})

    assert (await stage.job.asked()).body["protocols"] == protocols


@on_stage()
async def test_refused_versions_are_counted_and_counters_do_not_grow(stage: Stage) -> None:
    for key, version in ((11, 10), (11, 5_000), (999, 1), (998, 2)):
        client = await stage.client()
        client.writer.write(struct.pack(">ihhi", 8, key, version, 1))
        assert await client.is_hung_up()

    for version in (6, 77, -5):
        client = await stage.client()
        client.writer.write(struct.pack(">ihhih", 10, 18, version, 1, -1))
        await client.frame()

    assert stage.gateway.counters.refused == {("JoinGroup", 10): 2, ("unknown", None): 2}
    assert stage.gateway.counters.requests == {
        ("ApiVersions", 6, None): 2,
        ("ApiVersions", -1, None): 1,
    }


@on_stage(max_idle_ms=1000)
async def test_a_silent_client_is_hung_up_on_and_not_one_that_waits(stage: Stage) -> None:
    silent, waiting = await stage.client(), await stage.client()
    waiting.ask("Heartbeat", 0, {"groupId": "billing", "generationId": 1, "memberId": "m"})
    question = await stage.job.asked()
    await until(lambda: stage.gateway.gauges().connections == 2)
    now_s = asyncio.get_running_loop().time()
    stage.gateway.abort_idle(now_s + 0.9)
    still_there = stage.gateway.gauges().connections
    stage.gateway.abort_idle(now_s + 1.1)

    assert still_there == 2
    assert await silent.is_hung_up()
    question.answer.set_result({"errorCode": 0})
    assert (await waiting.answer("Heartbeat", 0))[1]["errorCode"] == 0


@on_stage()
async def test_requests_are_counted_by_api_version_and_place(stage: Stage) -> None:
    newcomer, member = await stage.client(), await stage.client(NODE)
    for client in (newcomer, member, member):
        client.ask("ApiVersions", 3, {"clientSoftwareName": "a", "clientSoftwareVersion": "1"})
        await client.frame()

    assert stage.gateway.counters.requests == {
        ("ApiVersions", 3, None): 1,
        ("ApiVersions", 3, NODE): 2,
    }
    assert stage.gateway.counters.connections == 2


@on_stage()
async def test_a_client_without_an_id_has_an_empty_one(stage: Stage) -> None:
    client = await stage.client()
    client.writer.write(wire.request("Heartbeat", 4, 1, None, {"groupId": "billing"}))
    assert (await stage.job.asked()).caller.client_id == ""


REQUESTS = sorted((api.name, version) for api in APIS.values() for version in api.versions)


class Damage(NamedTuple):
    """Bytes of a request that are other ones, and how many of its last ones are missing."""

    changed: list[tuple[int, int]]
    missing: int

    def of(self, request: bytes) -> bytes:
        damaged = bytearray(request)
        for position, byte in self.changed:
            damaged[position % len(damaged)] = byte
        return bytes(damaged[: len(damaged) - self.missing])


BYTES = st.sampled_from([0, 1, 2, 16, 127, 128, 254, 255])
# The first four are the size, which would leave the gateway waiting for the rest most of the time.
PLACES = st.integers(4, 60)
DAMAGES = st.builds(
    Damage, st.lists(st.tuples(PLACES, BYTES), max_size=4), st.sampled_from([0, 0, 0, 1, 5])
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(sent=st.lists(st.tuples(st.sampled_from(REQUESTS), DAMAGES), min_size=5, max_size=30))
def test_damage(
    caplog: pytest.LogCaptureFixture, sent: list[tuple[tuple[str, int], Damage]]
) -> None:
    async def scene() -> None:
        async with staged() as stage:
            for (api, version), damage in sent:
                client = await stage.client()
                client.writer.write(damage.of(wire.request(api, version, 7, "a-client", {})))
                client.writer.write_eof()
            for client in stage.clients:
                await client.reader.read()
            await stage.client()
            last = await stage.client()
            assert (await last.asks("ApiVersions", 0))["errorCode"] == 0

    caplog.clear()
    with caplog.at_level(logging.ERROR, "group_coordinator"):
        asyncio.run(scene())
    assert [one.getMessage() for one in caplog.records if one.levelno >= logging.ERROR] == []
