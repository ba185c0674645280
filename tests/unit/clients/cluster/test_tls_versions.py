"""Handshakes with a server that speaks TLS 1.2 alone."""

from __future__ import annotations

import ssl
from contextlib import suppress
from pathlib import Path
from ssl import MemoryBIO, SSLContext, SSLError, TLSVersion
from typing import Any

import pytest

from group_coordinator.cli.client_properties.security import tls_options
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.errors import LoginRefusedError
from group_coordinator.gateway.cluster.broker_access import BrokerAccess
from tests.support.certificates import self_signed

HOST = "127.0.0.1"


@pytest.fixture(scope="module")
def key_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return self_signed(tmp_path_factory.mktemp("keys"))


def contexts(options: dict[str, Any]) -> list[SSLContext]:
    """Of kafka-python's clients, and of the gateway's connections."""
    tls = BrokerAccess(options).tls
    assert tls is not None
    return [Connection("a:1", options).client_options()["ssl_context"], tls]


def spoken(client: SSLContext, key_store: Path) -> str | None:
    server = SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.maximum_version = TLSVersion.TLSv1_2
    server.load_cert_chain(key_store)
    to_server, to_client = MemoryBIO(), MemoryBIO()
    theirs = server.wrap_bio(to_server, to_client, server_side=True)
    ours = client.wrap_bio(to_client, to_server, server_hostname=HOST)
    for side in (ours, theirs, ours, theirs, ours):
        with suppress(ssl.SSLWantReadError):
            side.do_handshake()
    return ours.version()


def options_of(versions: str, key_store: Path) -> dict[str, Any]:
    properties = {
        "security.protocol": "SSL",
        "ssl.truststore.location": str(key_store),
        "ssl.enabled.protocols": versions,
    }
    return {"security_protocol": "SSL", **tls_options(properties)}


def test_a_client_of_tls_1_3_alone_does_not_speak_an_earlier_one(key_store: Path) -> None:
    for context in contexts(options_of("TLSv1.3", key_store)):
        with pytest.raises(SSLError, match="UNSUPPORTED_PROTOCOL"):
            spoken(context, key_store)


@pytest.mark.parametrize("versions", ["TLSv1.2", "TLSv1.2,TLSv1.3", "TLSv1.2 , TLSv1.1,TLSv1"])
def test_what_both_speak_is_spoken(key_store: Path, versions: str) -> None:
    for context in contexts(options_of(versions, key_store)):
        assert spoken(context, key_store) == "TLSv1.2"
        assert context.check_hostname


def test_a_file_that_cannot_be_read_is_named(key_store: Path) -> None:
    options = {**options_of("TLSv1.3", key_store), "ssl_cafile": "/no/ca.pem"}

    with pytest.raises(LoginRefusedError, match=r"^/no/ca\.pem: .*No such file"):
        Connection("a:1", options).client_options()
