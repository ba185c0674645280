"""Connections that log in at their broker, which is bound to the connection."""

from __future__ import annotations

import asyncio
import time
from base64 import b64encode
from typing import Any

import pytest

from group_coordinator.codecs import wire
from group_coordinator.gateway import login as login_module
from group_coordinator.gateway.connections.admission import NO_LIMITS
from group_coordinator.gateway.connections.connection import ClientConnection
from group_coordinator.gateway.login import FailedLogins
from tests.unit.gateway.scripted_broker import Asked
from tests.unit.gateway.stage import (
    FETCH,
    HEARTBEAT,
    Client,
    Stage,
    in_loop,
    on_stage,
    staged,
    until,
)

FOUR_MINUTES_S = 240.0
LOGIN = {
    "security_protocol": "SASL_PLAINTEXT",
    "sasl_mechanism": "PLAIN",
    "sasl_plain_username": "gateway",
    "sasl_plain_password": "secret",
}


def said(text: bytes) -> dict[str, str]:
    return {"authBytes": b64encode(text).decode()}


async def log_in(client: Client, name: bytes = b"billing", version: int = 2) -> dict[str, Any]:
    """With PLAIN; the broker answers on the spot."""
    await client.asks("SaslHandshake", 1, {"mechanism": "PLAIN"})
    client.ask("SaslAuthenticate", version, said(b"\0" + name + b"\0secret"))
    return (await client.answer("SaslAuthenticate", version))[1]


async def taken_by_hand(stage: Stage) -> None:
    """From here on the test answers in the broker's place."""
    del stage.broker.answers["SaslHandshake"], stage.broker.answers["SaslAuthenticate"]


async def began_with(stage: Stage, client: Client, mechanism: str) -> None:
    client.ask("SaslHandshake", 1, {"mechanism": mechanism})
    handshake = await stage.broker.asked()
    assert (handshake.api, handshake.body) == ("SaslHandshake", {"mechanism": mechanism})
    handshake.answer({"mechanisms": [mechanism]})
    await client.frame()


async def spoke(stage: Stage, client: Client, text: bytes) -> Asked:
    client.ask("SaslAuthenticate", 2, said(text))
    asked = await stage.broker.asked()
    assert asked.body == said(text)
    return asked


@on_stage(login=LOGIN)
async def test_the_name_of_a_login_goes_into_what_the_job_is_asked(stage: Stage) -> None:
    client = await stage.client()
    assert (await log_in(client))["errorCode"] == 0
    client.ask("Heartbeat", 4, HEARTBEAT)

    assert (await stage.job.asked()).caller.principal == "User:billing"


@pytest.mark.parametrize("api", ["Heartbeat", "FindCoordinator"])
@on_stage(login=LOGIN)
async def test_nothing_about_groups_before_a_login(stage: Stage, api: str) -> None:
    client = await stage.client()
    assert (await client.asks("ApiVersions", 3))["apiKeys"]
    body = HEARTBEAT if api == "Heartbeat" else {"coordinatorKeys": ["billing"]}
    client.ask(api, 4, body)

    assert await client.is_hung_up()
    assert stage.job.questions == []


@on_stage(login=LOGIN)
async def test_nothing_else_is_sent_on_before_a_login(stage: Stage) -> None:
    own = len(stage.broker.writers)
    client = await stage.client()
    client.ask("Fetch", 12, FETCH)

    assert await client.is_hung_up()
    assert stage.broker.is_idle()
    assert len(stage.broker.writers) == own


@on_stage(login=LOGIN)
async def test_one_request_at_a_time_before_a_login(stage: Stage) -> None:
    del stage.broker.answers["ApiVersions"]
    client = await stage.client()
    for _ in range(3):
        client.ask("ApiVersions", 3)
    asked = await stage.broker.asked()
    other = await stage.client()
    other.ask("ApiVersions", 3)
    of_other = await stage.broker.asked()  # so long the first one's next did not come

    assert (asked.writer is of_other.writer, stage.broker.is_idle()) == (False, True)
    for _ in range(2):
        asked.answer({"apiKeys": []})
        await client.frame()
        asked = await stage.broker.asked()


@on_stage(login=LOGIN)
async def test_the_longest_first_message_goes_to_the_broker_and_is_unread(stage: Stage) -> None:
    await taken_by_hand(stage)
    for version in (0, 2):
        client = await stage.client()
        await began_with(stage, client, "PLAIN")
        text = b"\0billing\0" + b"x" * 500_000
        client.ask("SaslAuthenticate", version, said(text))
        asked = await stage.broker.asked()
        asked.answer({})
        await client.frame()
        client.ask("Heartbeat", 4, HEARTBEAT)

        assert (asked.version, asked.body) == (max(version, 1), said(text))
        assert await client.is_hung_up()
    assert stage.job.questions == []


@on_stage(login=LOGIN)
async def test_a_wrong_password_is_told_by_the_broker_and_opens_nothing(stage: Stage) -> None:
    client = await stage.client()
    stage.broker.answers["SaslAuthenticate"] = lambda _asked: {"errorCode": 58}
    assert (await log_in(client))["errorCode"] == 58
    client.ask("Heartbeat", 4, HEARTBEAT)

    assert await client.is_hung_up()
    assert stage.job.questions == []


@in_loop
async def test_after_a_wrong_password_the_next_login_from_there_waits() -> None:
    limits = NO_LIMITS._replace(failed_login_delay_ms=300)
    async with staged(login=LOGIN, limits=limits) as stage:
        loop = asyncio.get_running_loop()
        wrong, next_one = await stage.client(), await stage.client()
        elsewhere = await stage.client(host="127.0.0.2")
        stage.broker.answers["SaslAuthenticate"] = lambda _asked: {"errorCode": 58}
        await log_in(wrong)
        failed_at_s = loop.time()
        stage.broker.answers["SaslAuthenticate"] = lambda _asked: {}
        await log_in(elsewhere)
        elsewhere_s = loop.time() - failed_at_s
        assert (await log_in(next_one))["errorCode"] == 0

        assert elsewhere_s < 0.3 <= loop.time() - failed_at_s < 3


def test_many_failures_add_up_to_ten_seconds_which_time_takes_away() -> None:
    failed = FailedLogins(delay_ms=100)
    for _ in range(30):
        failed.note("10.0.0.7", 50.0)
    waits = [failed.wait_s("10.0.0.7", at_s) for at_s in (50.0, 52.5, 53.5)]
    for _ in range(1_000):
        failed.note("10.0.0.7", 60.0)

    assert waits == pytest.approx([3.0, 0.5, 0.0])
    assert failed.wait_s("10.0.0.7", 60.0) == 10.0
    assert failed.wait_s("10.0.0.8", 60.0) == 0.0


def test_addresses_whose_logins_failed_are_forgotten_beyond_ten_thousand() -> None:
    failed = FailedLogins(delay_ms=100)
    for number in range(10_001):
        failed.note(f"host-{number}", 50.0)

    assert [failed.wait_s(f"host-{n}", 50.0) > 0 for n in (0, 1, 10_000)] == [False, True, True]


@on_stage(login=LOGIN)
async def test_a_challenge_of_scram_is_no_login(stage: Stage) -> None:
    await taken_by_hand(stage)
    liar, honest = await stage.client(), await stage.client()
    for client in (liar, honest):
        await began_with(stage, client, "SCRAM-SHA-512")
        challenge = await spoke(stage, client, b"n,,n=admin,r=x")
        challenge.answer(said(b"r=xy,s=eA==,i=4096"))
        await client.frame()
    liar.ask("Heartbeat", 4, HEARTBEAT)
    (await stage.broker.asked()).hang_up()  # as it knows, too
    proof = await spoke(stage, honest, b"c=biws,r=xy,p=eA==")
    proof.answer(said(b"v=eA=="))
    await honest.frame()
    honest.ask("Heartbeat", 4, HEARTBEAT)

    assert await liar.is_hung_up()
    assert (await stage.job.asked()).caller.principal == "User:admin"
    assert len(stage.job.questions) == 1


@pytest.mark.parametrize("is_again", [False, True])
@on_stage(login=LOGIN)
async def test_a_broker_itself_refuses_group_requests_in_the_middle_of_a_login(
    stage: Stage, *, is_again: bool
) -> None:
    client = await stage.client()
    if is_again:
        await log_in(client)
    await client.asks("SaslHandshake", 1, {"mechanism": "PLAIN"})
    client.ask("Heartbeat", 4, HEARTBEAT)
    client.ask("Heartbeat", 4, HEARTBEAT)
    asked = await stage.broker.asked()
    asked.answer({"errorCode": 34})

    assert (asked.api, asked.body["memberId"]) == ("Heartbeat", "m-1")
    assert (await client.answer("Heartbeat", 4))[1]["errorCode"] == 34
    asked.hang_up()
    assert await client.is_hung_up()
    assert stage.broker.is_idle()
    assert stage.job.questions == []


@on_stage(login=LOGIN)
async def test_a_request_behind_an_unanswered_login_waits_for_it(stage: Stage) -> None:
    await taken_by_hand(stage)
    client = await stage.client()
    await began_with(stage, client, "PLAIN")
    asked = await spoke(stage, client, b"\0billing\0secret")
    client.ask("Heartbeat", 4, HEARTBEAT)
    other = await stage.client()
    await began_with(stage, other, "PLAIN")  # so long nobody has asked the job
    assert stage.job.questions == []
    asked.answer({})

    assert (await stage.job.asked()).caller.principal == "User:billing"


@on_stage(login=LOGIN)
async def test_a_mechanism_that_nobody_reads_gives_data_but_no_groups(stage: Stage) -> None:
    await taken_by_hand(stage)
    client = await stage.client()
    await began_with(stage, client, "GSSAPI")
    (await spoke(stage, client, b"\0admin\0x")).answer({})
    await client.frame()
    client.ask("Fetch", 12, FETCH)
    fetch = await stage.broker.asked()
    client.ask("Heartbeat", 4, HEARTBEAT)

    assert fetch.api == "Fetch"
    assert await client.is_hung_up()


@on_stage(login=LOGIN)
async def test_the_handshake_that_bare_tokens_follow_is_refused(stage: Stage) -> None:
    client = await stage.client()
    client.ask("SaslHandshake", 0, {"mechanism": "PLAIN"})

    assert await client.is_hung_up()


@in_loop
async def test_an_ended_session_needs_another_login(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = time.monotonic()
    monkeypatch.setattr(login_module, "monotonic", lambda: now_s)

    async with staged(login=LOGIN) as stage:
        stage.broker.session_ms = 60_000
        renewed, late = await stage.client(), await stage.client()
        for client in (renewed, late):
            assert (await log_in(client))["sessionLifetimeMs"] == 60_000
        now_s += 60.5
        await log_in(renewed)
        renewed.ask("Heartbeat", 4, HEARTBEAT)
        late.ask("Heartbeat", 4, HEARTBEAT)

        assert (await stage.job.asked()).caller.principal == "User:billing"
        assert await late.is_hung_up()
        assert len(stage.job.questions) == 1


@in_loop
async def test_a_session_ends_too_for_an_old_client(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = time.monotonic()
    monkeypatch.setattr(login_module, "monotonic", lambda: now_s)

    async with staged(login=LOGIN) as stage:
        stage.broker.session_ms = 60_000
        client = await stage.client()
        answer = await log_in(client, version=0)
        client.ask("Heartbeat", 4, HEARTBEAT)
        question = await stage.job.asked()
        question.answer.set_result({"errorCode": 0})
        await client.answer("Heartbeat", 4)
        now_s += 60.5
        client.ask("Heartbeat", 4, HEARTBEAT)

        assert (answer["errorCode"], "sessionLifetimeMs" in answer) == (0, False)
        assert question.caller.principal == "User:billing"
        assert await client.is_hung_up()
        assert len(stage.job.questions) == 1


@on_stage(login=LOGIN)
async def test_a_connection_stays_with_its_user(stage: Stage) -> None:
    client = await stage.client()
    await log_in(client)
    client.ask("SaslHandshake", 1, {"mechanism": "PLAIN"})
    await client.frame()
    client.ask("SaslAuthenticate", 2, said(b"\0somebody-else\0secret"))

    assert await client.is_hung_up()


async def logged_in(stage: Stage) -> tuple[Client, ClientConnection]:
    client = await stage.client()
    await log_in(client)
    [connection] = stage.gateway._connections  # noqa: SLF001 - its clock is moved by hand
    return client, connection


@on_stage(login=LOGIN)
async def test_a_broker_that_hears_nothing_is_asked_without_the_client(stage: Stage) -> None:
    client, connection = await logged_in(stage)
    del stage.broker.answers["ApiVersions"]
    now_s = asyncio.get_running_loop().time()
    connection.keep_broker(now_s + FOUR_MINUTES_S - 1)
    connection.keep_broker(now_s + FOUR_MINUTES_S + 1)
    connection.keep_broker(now_s + FOUR_MINUTES_S + 1)
    number = client.ask("Fetch", 12, FETCH)
    kept, fetch = await stage.broker.asked(), await stage.broker.asked()
    kept.answer({"apiKeys": []})
    fetch.answer_bytes(b"\0fetched")

    assert (kept.api, fetch.api) == ("ApiVersions", "Fetch")
    frame = await client.frame()
    assert (int.from_bytes(frame[:4]), frame[5:]) == (number, b"fetched")


@on_stage(login=LOGIN)
async def test_a_broker_is_asked_nothing_in_the_middle_of_a_request(stage: Stage) -> None:
    client, connection = await logged_in(stage)
    partition = {"index": 0, "records": b64encode(bytes(1_000)).decode()}
    topics = [{"name": "orders", "partitionData": [partition]}]
    body = {"acks": 0, "timeoutMs": 100, "topicData": topics}
    request = wire.request("Produce", 9, 5, "a-client", body)
    client.writer.write(request[:500])
    await until(lambda: not connection.client.is_between_frames)
    connection.keep_broker(asyncio.get_running_loop().time() + FOUR_MINUTES_S + 1)
    client.writer.write(request[500:])

    assert (await stage.broker.asked()).frame == request[4:]


@on_stage()
async def test_without_a_login_a_broker_may_hang_up(stage: Stage) -> None:
    client = await stage.client()
    client.ask("ApiVersions", 0)
    await client.frame()
    [connection] = stage.gateway._connections  # noqa: SLF001 - its clock is moved by hand
    connection.keep_broker(asyncio.get_running_loop().time() + 2 * FOUR_MINUTES_S)
    client.ask("Fetch", 12, FETCH)

    assert (await stage.broker.asked()).api == "Fetch"


@on_stage(login=LOGIN)
async def test_a_broker_that_goes_takes_the_login_with_it(stage: Stage) -> None:
    client, connection = await logged_in(stage)
    client.ask("Heartbeat", 4, HEARTBEAT)
    await stage.job.asked()
    upstream = connection.pipeline.upstream
    assert upstream is not None
    for writer in tuple(stage.broker.writers):
        writer.transport.abort()

    assert await client.is_hung_up()
    await until(lambda: stage.gateway.gauges().connections == 0)
