"""TLS of both sides of a gateway."""

from __future__ import annotations

import asyncio
import ssl
from asyncio.sslproto import SSLProtocol
from pathlib import Path
from ssl import SSLContext

import pytest

from group_coordinator.gateway.cluster.broker_access import BrokerAccess, listener_context
from group_coordinator.gateway.connections.tls_buffers import begin_small
from group_coordinator.gateway.start_errors import GatewayStartError
from tests.support.certificates import self_signed
from tests.unit.gateway.stage import Certificates, staged, until
from tests.unit.gateway.test_logins import LOGIN, log_in

HEARTBEAT = {"groupId": "billing", "generationId": 3, "memberId": "m-1"}
FETCH = {"maxWaitMs": 100, "minBytes": 1, "topics": []}
PIECE = b"0123456789abcdef" * 4096


@pytest.fixture(scope="module")
def key_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return self_signed(tmp_path_factory.mktemp("keys"))


def server(key_store: Path, authorities: Path | None = None) -> SSLContext:
    context = listener_context(str(key_store), "" if authorities is None else str(authorities))
    assert context is not None
    return context


def test_large_answers_and_group_requests_pass_through_two_encryptions(key_store: Path) -> None:
    async def scene() -> None:
        both = Certificates(server(key_store), server(key_store))
        login = {"security_protocol": "SSL", "ssl_cafile": str(key_store)}
        async with staged(certificates=both, login=login) as stage:
            client = await stage.client(tls=ssl.create_default_context(cafile=key_store))
            client.ask("Fetch", 12, FETCH)
            sent = (await stage.broker.asked()).answer_bytes(b"\0" + PIECE * 64)
            client.ask("Heartbeat", 4, HEARTBEAT)
            (await stage.job.asked()).answer.set_result({"errorCode": 27})

            assert await client.frame() == sent[4:]
            assert (await client.answer("Heartbeat", 4))[1]["errorCode"] == 27

    asyncio.run(scene())


def test_a_slow_reader_gets_all_of_several_large_answers(key_store: Path) -> None:
    async def scene() -> None:
        async with staged(certificates=Certificates(server(key_store), None)) as stage:
            client = await stage.client(tls=ssl.create_default_context(cafile=key_store))
            sent = []
            for number in range(8):
                client.ask("Fetch", 12, FETCH)
                asked = await stage.broker.asked()
                sent.append(asked.answer_bytes(bytes([number]) + PIECE * 16))

            assert [await client.frame() for _ in sent] == [frame[4:] for frame in sent]

    asyncio.run(scene())


def test_a_login_through_tls_whose_buffers_begin_small(
    key_store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SSLProtocol, "max_size", SSLProtocol.max_size)

    async def scene() -> None:
        begin_small()
        certificates = Certificates(server(key_store), None)
        async with staged(login=LOGIN, certificates=certificates) as stage:
            client = await stage.client(tls=ssl.create_default_context(cafile=key_store))
            await until(lambda: stage.gateway.gauges().connections == 1)
            [connection] = stage.gateway._connections  # noqa: SLF001 - what it keeps
            buffer = connection.client._transport._ssl_protocol._ssl_buffer  # type: ignore[union-attr] # noqa: SLF001
            assert (await log_in(client))["errorCode"] == 0
            client.ask("Fetch", 12, FETCH)
            sent = (await stage.broker.asked()).answer_bytes(b"\0" + PIECE * 16)

            assert await client.frame() == sent[4:]
            assert len(buffer) == 16 * 1024

    asyncio.run(scene())


def test_a_client_that_does_not_speak_tls_is_hung_up_on(key_store: Path) -> None:
    async def scene() -> None:
        async with staged(certificates=Certificates(server(key_store), None)) as stage:
            client = await stage.client()
            client.ask("ApiVersions", 3)

            assert await client.is_hung_up()
            assert stage.gateway.gauges().connections == 0

    asyncio.run(scene())


def test_a_client_must_show_a_certificate_if_authorities_are_named(key_store: Path) -> None:
    async def scene() -> None:
        mutual = Certificates(server(key_store, key_store), None)
        async with staged(certificates=mutual) as stage:
            known = ssl.create_default_context(cafile=key_store)
            known.load_cert_chain(key_store)
            friend = await stage.client(tls=known)
            friend.ask("ApiVersions", 3)
            stranger = await stage.client(tls=ssl.create_default_context(cafile=key_store))
            stranger.ask("ApiVersions", 3)

            assert (await friend.answer("ApiVersions", 3))[1]["errorCode"] == 0
            with pytest.raises((OSError, EOFError)):  # as TLS and the closing race
                await stranger.frame()

    asyncio.run(scene())


def test_files_that_cannot_be_used(tmp_path: Path, key_store: Path) -> None:
    empty = tmp_path / "empty.pem"
    empty.touch()
    for arguments, named in (
        ((str(empty), ""), "gateway.ssl.keystore.location"),
        ((str(tmp_path / "none.pem"), ""), "gateway.ssl.keystore.location"),
        ((str(key_store), str(empty)), "gateway.ssl.truststore.location"),
        (("", str(key_store)), "gateway.ssl.truststore.location"),
    ):
        with pytest.raises(GatewayStartError, match=f"^{named} = "):
            listener_context(*arguments)
    with pytest.raises(GatewayStartError, match=r"none\.pem"):
        BrokerAccess({"security_protocol": "SSL", "ssl_cafile": str(tmp_path / "none.pem")})


def test_without_a_key_store_ports_are_plain() -> None:
    assert listener_context("", "") is None
