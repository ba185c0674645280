"""TLS of both sides of a gateway."""

from __future__ import annotations

import os
import ssl
from asyncio.sslproto import SSLProtocol
from pathlib import Path
from ssl import SSLContext

import pytest

from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.driver.checks.preflight import identity_of_clients
from group_coordinator.gateway import GatewayStartError
from group_coordinator.gateway.cluster.broker_access import BrokerAccess, listener_context
from group_coordinator.gateway.connections.tcp_connection import CertificateRenewal, begin_small
from group_coordinator.gateway.run import (
    check_clients_are_answered,
    closed_to_clients,
    lends_certificate,
)
from group_coordinator.settings import JobSettings, load
from tests.support.certificates import self_signed
from tests.unit.gateway.stage import FETCH, HEARTBEAT, Certificates, in_loop, staged, until
from tests.unit.gateway.test_logins import LOGIN, log_in

PIECE = b"0123456789abcdef" * 4096


@pytest.fixture(scope="module")
def key_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return self_signed(tmp_path_factory.mktemp("keys"))


def server(key_store: Path, authorities: Path | None = None) -> SSLContext:
    context = listener_context(str(key_store), "" if authorities is None else str(authorities))
    assert context is not None
    return context


@in_loop
async def test_large_answers_and_group_requests_pass_two_encryptions(key_store: Path) -> None:
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


@in_loop
async def test_a_slow_reader_gets_all_of_several_large_answers(key_store: Path) -> None:
    async with staged(certificates=Certificates(server(key_store), None)) as stage:
        client = await stage.client(tls=ssl.create_default_context(cafile=key_store))
        sent = []
        for number in range(8):
            client.ask("Fetch", 12, FETCH)
            asked = await stage.broker.asked()
            sent.append(asked.answer_bytes(bytes([number]) + PIECE * 16))

        assert [await client.frame() for _ in sent] == [frame[4:] for frame in sent]


@in_loop
async def test_a_login_in_small_buffers(key_store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SSLProtocol, "max_size", SSLProtocol.max_size)

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
        assert len(buffer) == 4 * 1024


@in_loop
async def test_a_client_that_does_not_speak_tls_is_hung_up_on(
    key_store: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with staged(certificates=Certificates(server(key_store), None)) as stage:
        client = await stage.client()
        client.ask("ApiVersions", 3)

        assert await client.is_hung_up()
        assert stage.gateway.gauges().connections == 0
        assert stage.gateway.counters.malformed == 1
        assert "Hung up on 127.0.0.1: [SSL:" in caplog.text


@in_loop
async def test_a_client_must_show_a_certificate_if_authorities_are_named(
    key_store: Path, caplog: pytest.LogCaptureFixture
) -> None:
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
    assert "peer did not return a certificate" in caplog.text


def own_certificate(key_store: Path, protocol: str = "SSL") -> dict[str, str]:
    """Of the gateway, at brokers that know users by it."""
    files = {"ssl_cafile": str(key_store), "ssl_certfile": str(key_store)}
    return {"security_protocol": protocol, **files}


def settings_of(**given: str) -> JobSettings:
    return load(overrides=[f"{key.replace('__', '.')}={value}" for key, value in given.items()]).job


@in_loop
async def test_the_certificate_of_the_gateway_is_not_that_of_its_clients(key_store: Path) -> None:
    mutual = Certificates(None, server(key_store, key_store))
    async with staged(certificates=mutual, login=own_certificate(key_store)) as stage:
        assert stage.view.age_s() is not None
        client = await stage.client()
        client.ask("Fetch", 12, FETCH)

        assert await client.is_hung_up()
        assert stage.broker.is_idle()
        with pytest.raises(
            GatewayStartError, match=r"or set gateway\.clients\.share\.one\.user = true$"
        ):
            await check_clients_are_answered(stage.view)


@in_loop
async def test_clients_are_nobody_where_no_certificate_is_required(key_store: Path) -> None:
    lenient = server(key_store, key_store)
    lenient.verify_mode = ssl.CERT_OPTIONAL
    both = Certificates(None, lenient)
    async with staged(certificates=both, login=own_certificate(key_store)) as stage:
        await check_clients_are_answered(stage.view)
        client = await stage.client()
        client.ask("Fetch", 12, FETCH)
        asked = await stage.broker.asked()

        assert asked.writer.get_extra_info("ssl_object").getpeercert() is None


@in_loop
async def test_clients_that_share_one_user_get_no_delegation_tokens_of_it(key_store: Path) -> None:
    mutual, login = Certificates(None, server(key_store, key_store)), own_certificate(key_store)
    job = settings_of(gateway__clients__share__one__user="true")
    closed = closed_to_clients(job, Connection("broker:9092", login))
    view_lends = lends_certificate(job, login)
    async with staged(
        certificates=mutual, login=login, lends_certificate=view_lends, closed=closed
    ) as stage:
        await check_clients_are_answered(stage.view)
        client, thief = await stage.client(), await stage.client()
        client.ask("Fetch", 12, FETCH)
        thief.ask("CreateDelegationToken", 3, {"renewers": [], "maxLifetimeMs": -1})

        assert (await stage.broker.asked()).api == "Fetch"
        assert await thief.is_hung_up()
        assert stage.broker.is_idle()
        assert closed.topics == {"group-events", "group-responses"}


@pytest.mark.parametrize("is_shared", ["true", "false"])
def test_check_tells_that_clients_share_one_user(is_shared: str) -> None:
    job = settings_of(gateway__clients__share__one__user=is_shared)
    connection = Connection("broker:9092", own_certificate(Path("gateway.pem")))
    told = [(each.is_right, each.is_needed) for each in identity_of_clients(job, connection)]

    assert told == ([(False, False)] if is_shared == "true" else [])


@pytest.mark.parametrize(
    ("protocol", "settings", "is_lent"),
    [
        ("SSL", {}, False),
        ("SSL", {"gateway__ssl__truststore__location": "ca.pem"}, False),
        ("SSL", {"gateway__clients__share__one__user": "true"}, True),
        ("SASL_SSL", {}, False),
        ("SASL_SSL", {"gateway__clients__share__one__user": "true"}, False),
        ("SASL_SSL", {"gateway__ssl__truststore__location": "ca.pem"}, True),
    ],
)
def test_who_shows_the_certificate(
    protocol: str, settings: dict[str, str], *, is_lent: bool
) -> None:
    login = own_certificate(Path("gateway.pem"), protocol)

    assert lends_certificate(settings_of(**settings), login) is is_lent


def test_files_that_cannot_be_used(tmp_path: Path, key_store: Path) -> None:
    empty = tmp_path / "empty.pem"
    empty.touch()
    own = "give a PEM file with a private key, without a password, and its certificates"
    authorities = "give a PEM file with certificates of authorities"
    for arguments, named, way_out in (
        ((str(empty), ""), "keystore", own),
        ((str(tmp_path / "none.pem"), ""), "keystore", own),
        ((str(key_store), str(empty)), "truststore", authorities),
        (("", str(key_store)), "truststore", "set gateway.ssl.keystore.location too"),
    ):
        with pytest.raises(
            GatewayStartError, match=f"^gateway.ssl.{named}.location = .*: {way_out}$"
        ):
            listener_context(*arguments)
    with pytest.raises(GatewayStartError, match=r"none\.pem"):
        BrokerAccess({"security_protocol": "SSL", "ssl_cafile": str(tmp_path / "none.pem")})


def test_without_a_key_store_ports_are_plain() -> None:
    assert listener_context("", "") is None


@in_loop
async def test_a_renewed_certificate(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folders = tmp_path / "first", tmp_path / "second"
    for folder in folders:
        folder.mkdir()
    # OpenSSL keeps a certificate of each kind of key, and prefers the first one's.
    first, second = self_signed(folders[0]), self_signed(folders[1], ("-newkey", "rsa:2048"))
    in_use = tmp_path / "in-use.pem"
    in_use.write_bytes(first.read_bytes())
    context = server(in_use)
    renewal = CertificateRenewal(context, str(in_use), "")

    async with staged(certificates=Certificates(context, None)) as stage:
        before = await stage.client(tls=ssl.create_default_context(cafile=first))
        for changed_at_ns, content in enumerate((b"half a file", second.read_bytes())):
            in_use.write_bytes(content)
            os.utime(in_use, ns=(changed_at_ns, changed_at_ns))
            renewal.look()
            renewal.look()
            if not changed_at_ns:
                await stage.client(tls=ssl.create_default_context(cafile=first))
        with pytest.raises(ssl.SSLCertVerificationError):
            await stage.client(tls=ssl.create_default_context(cafile=first))
        for client in before, await stage.client(tls=ssl.create_default_context(cafile=second)):
            assert (await client.asks("ApiVersions", 3))["errorCode"] == 0
    told = [r.message for r in caplog.records if "certificate stays" in r.message]
    assert len(told) == 1
    assert f"gateway.ssl.keystore.location = {in_use}" in told[0]


@in_loop
async def test_a_renewed_certificate_and_clients_with_their_own(
    tmp_path: Path, key_store: Path
) -> None:
    in_use = self_signed(tmp_path)
    context = server(in_use, key_store)
    renewal = CertificateRenewal(context, str(in_use), str(key_store))
    os.utime(self_signed(tmp_path), ns=(1, 1))
    renewal.look()

    async with staged(certificates=Certificates(context, None)) as stage:
        known = ssl.create_default_context(cafile=in_use)
        stranger = await stage.client(tls=ssl.create_default_context(cafile=in_use))
        stranger.ask("ApiVersions", 3)
        known.load_cert_chain(key_store)
        friend = await stage.client(tls=known)

        assert (await friend.asks("ApiVersions", 3))["errorCode"] == 0
        with pytest.raises((OSError, EOFError)):  # as TLS and the closing race
            await stranger.frame()
