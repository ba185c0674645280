"""How many clients there may be, how long they may take to say who they are, and what they may hold meanwhile."""

from __future__ import annotations

import asyncio
import logging
import resource
import socket
import ssl
import struct
from pathlib import Path

import pytest

from group_coordinator.gateway.cluster.broker_access import listener_context
from group_coordinator.gateway.connections import admission
from group_coordinator.gateway.connections.admission import NO_LIMITS, HeldBytes
from group_coordinator.gateway.connections.tcp_connection import (
    connections_within_limit,
    raise_open_files,
)
from tests.support.certificates import self_signed
from tests.unit.gateway.stage import (
    LOOPBACK,
    Certificates,
    Client,
    Stage,
    in_loop,
    on_stage,
    staged,
    until,
)
from tests.unit.gateway.test_logins import HEARTBEAT, LOGIN, log_in

MIB = 1024 * 1024
UNFINISHED = struct.pack(">ihhih", 512 * 1024, 36, 2, 1, -1) + b"\0" + b"x" * (512 * 1024 - 16)
"""A SaslAuthenticate as long as may be, without its last bytes."""


def closed(stage: Stage) -> dict[str, int]:
    return dict(stage.gateway.counters.closed)


def with_little_room(port: int) -> socket.socket:
    """A client whose system keeps few of the bytes that it does not read."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.connect((LOOPBACK, port))
    return client


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    ours = (one for one in caplog.records if one.name.startswith("group_coordinator"))
    return [one.getMessage() for one in ours if one.levelno >= logging.WARNING]


@in_loop
async def test_one_connection_more_waits_for_another_to_go(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with staged(limits=NO_LIMITS._replace(max_connections=2)) as stage:
        first, _ = await stage.client(), await stage.client()
        for _ in range(3):
            assert await (await stage.client()).is_hung_up()
        assert closed(stage) == {"max-connections": 3}
        assert stage.gateway.gauges().connections == 2
        first.leave()
        await until(lambda: stage.gateway.gauges().connections == 1)
        late = await stage.client()
        assert (await late.asks("ApiVersions", 0))["errorCode"] == 0
    assert warnings(caplog) == [
        "Hung up on 127.0.0.1: gateway.max.connections = 2 (1 since the last such line)"
    ]


@in_loop
async def test_an_address_with_too_many_leaves_room(caplog: pytest.LogCaptureFixture) -> None:
    async with staged(limits=NO_LIMITS._replace(max_connections_per_ip=2)) as stage:
        await stage.client()
        await stage.client()
        assert await (await stage.client()).is_hung_up()
        other = await stage.client(host="127.0.0.2")
        other.ask("ApiVersions", 0)

        assert (await other.answer("ApiVersions", 0))[1]["errorCode"] == 0
        assert closed(stage) == {"max-connections-per-ip": 1}
    assert warnings(caplog) == [
        "Hung up on 127.0.0.1: gateway.max.connections.per.ip = 2 (1 since the last such line)"
    ]


@in_loop
async def test_a_login_that_does_not_end_in_time_is_hung_up_on() -> None:
    limits = NO_LIMITS._replace(login_timeout_ms=500)
    async with staged(login=LOGIN, limits=limits) as stage:
        user, silent, half = [await stage.client() for _ in range(3)]
        await log_in(user)
        for _ in range(2):  # what is asked before a login is no login
            await half.asks("ApiVersions", 0)
        await half.asks("SaslHandshake", 1, {"mechanism": "PLAIN"})

        assert await silent.is_hung_up()
        assert await half.is_hung_up()
        user.ask("Heartbeat", 4, HEARTBEAT)
        assert (await stage.job.asked()).caller.principal == "User:billing"
        assert closed(stage) == {"login-timeout": 2}


@on_stage(limits=NO_LIMITS._replace(login_timeout_ms=500))
async def test_where_no_login_is_wanted_one_whole_request_is_enough(stage: Stage) -> None:
    user, silent, half = [await stage.client() for _ in range(3)]
    await user.asks("ApiVersions", 0)
    half.writer.write(struct.pack(">ihhih", 100, 18, 3, 1, -1))

    assert await silent.is_hung_up()
    assert await half.is_hung_up()
    assert (await user.asks("ApiVersions", 0))["errorCode"] == 0
    assert closed(stage) == {"login-timeout": 2}


def test_connections_need_two_open_files_and_leave_some(monkeypatch: pytest.MonkeyPatch) -> None:
    raised: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: (512, 1_024))
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: raised.append(limits))

    assert raise_open_files() == 384
    assert raised == [(1_024, 1_024)]


def test_a_limit_of_open_files_that_is_too_low_is_logged_with_the_one_that_is_needed(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1_024, 1_024))

    assert connections_within_limit(400) == 384
    assert connections_within_limit(384) == 384
    assert caplog.messages == [
        (
            "gateway.max.connections = 400: the limit of open files allows 384: raise that limit to 1056, or "
            "lower the setting"
        )
    ]


@pytest.fixture(scope="module")
def key_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return self_signed(tmp_path_factory.mktemp("keys"))


@in_loop
async def test_a_client_that_begins_no_tls_counts_until_its_end(key_store: Path) -> None:
    certificates = Certificates(listener_context(str(key_store), ""), None)
    limits = NO_LIMITS._replace(login_timeout_ms=300, max_connections=1)
    async with staged(certificates=certificates, limits=limits) as stage:
        silent = await stage.client()
        trusting = ssl.create_default_context(cafile=key_store)
        with pytest.raises(OSError):  # noqa: PT011 - as TLS and the closing race
            await stage.client(tls=trusting)

        assert await silent.is_hung_up()
        friend = await stage.client(tls=trusting)
        assert (await friend.asks("ApiVersions", 3))["errorCode"] == 0


@in_loop
async def test_unfinished_logins_hold_no_more_than_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "BEFORE_LOGIN_BYTES", 4 * MIB)

    async with staged(login=LOGIN) as stage:
        patient = await stage.client()
        patient.writer.write(UNFINISHED[:6_000])
        hostile = [await stage.client() for _ in range(20)]
        for client in hostile:
            client.writer.write(UNFINISHED)
        await until(lambda: closed(stage).get("unfinished-requests", 0) >= 20 - 8)
        connections = stage.gateway._connections  # noqa: SLF001 - what they keep
        held = sum(each.client.unread_bytes for each in connections)
        honest = await stage.client()

        assert (await log_in(honest))["errorCode"] == 0
        assert held <= 4 * MIB
        assert not patient.reader.at_eof()


@on_stage(login=LOGIN)
async def test_answers_that_nobody_reads_before_a_login_hold_their_asker_back(stage: Stage) -> None:
    long = {"name": "x" * 20_000, "minVersion": 0, "maxVersion": 1}
    body = {"apiKeys": [], "supportedFeatures": [long]}
    client = Client(*await asyncio.open_connection(sock=with_little_room(stage.port)))
    stage.clients.append(client)
    client.writer.transport.pause_reading()
    stage.broker.answers["ApiVersions"] = lambda _asked: body
    for _ in range(1_000):
        client.ask("ApiVersions", 3)
    answered = -1
    while answered != stage.gateway.counters.requests["ApiVersions", 3, None]:
        answered = stage.gateway.counters.requests["ApiVersions", 3, None]
        await asyncio.sleep(0.1)
    [connection] = stage.gateway._connections  # noqa: SLF001 - what it keeps

    assert answered < 1_000
    assert connection.client.unsent_bytes < 2 * 20_000
    assert connection.client.unread_bytes <= 8_192


def test_the_largest_holder_goes_first_and_small_ones_never() -> None:
    held: HeldBytes[str] = HeldBytes(100)
    told = [held.note(*each) for each in (("a", 30), ("b", 40), ("c", 25), ("a", 35), ("c", 30))]

    assert told == [[], [], [], [], ["b"]]
    assert held.total == 65
    assert held.note("d", 200) == ["d"]
    assert held.note("a", 0) == []
    assert held.total == 30


@on_stage(limits=NO_LIMITS._replace(max_connections=1))
async def test_who_hangs_up_before_it_is_heard_leaves_its_place(stage: Stage) -> None:
    for _ in range(5):
        hasty = socket.create_connection((LOOPBACK, stage.port))
        hasty.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        hasty.close()
        await until(lambda: stage.gateway.gauges().connections == 0)
    await until(lambda: stage.gateway.counters.connections > 0)
    await until(lambda: stage.gateway.gauges().connections == 0)
    last = await stage.client()
    assert (await last.asks("ApiVersions", 0))["errorCode"] == 0
