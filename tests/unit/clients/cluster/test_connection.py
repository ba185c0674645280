from __future__ import annotations

import logging
import socket
import ssl
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from ssl import MemoryBIO, SSLContext, SSLError, TLSVersion
from typing import Any

import pytest
from kafka.errors import (
    KafkaConnectionError,
    KafkaTimeoutError,
    RequestTimedOutError,
    SaslAuthenticationFailedError,
    TopicAuthorizationFailedError,
)

from group_coordinator.cli.client_properties.security import tls_options
from group_coordinator.clients.cluster.connection import (
    Connection,
    logged_errors,
    reported_long_wait,
)
from group_coordinator.clients.errors import (
    AccessDeniedError,
    BrokerUnreachableError,
    LoginRefusedError,
)
from group_coordinator.codecs.host_and_port import AddressError
from group_coordinator.gateway.cluster.broker_access import BrokerAccess
from tests.support.certificates import self_signed
from tests.support.until import until


def test_the_first_server_that_listens_counts() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

        address = Connection(f"127.0.0.1:1,127.0.0.1:{port}").local_address()

    assert address == "127.0.0.1"


def test_nobody_listens() -> None:
    with pytest.raises(BrokerUnreachableError) as caught:
        Connection("127.0.0.1:1").local_address()

    assert str(caught.value) == "no Kafka broker responds (127.0.0.1:1: Connection refused)"


@pytest.mark.parametrize(
    "address", ["broker:none", "broker:65536", f"broker:{'1' * 30}", f"broker:{'1' * 5_000}"]
)
def test_an_address_that_is_none(address: str) -> None:
    with pytest.raises(AddressError, match=f"'{address}' is not HOST:PORT"):
        Connection(address)


@pytest.mark.parametrize(
    ("error", "family", "message"),
    [
        (
            SaslAuthenticationFailedError("invalid credentials"),
            LoginRefusedError,
            "Kafka at a:1: authentication of user billing failed",
        ),
        (
            KafkaConnectionError("socket disconnected"),
            LoginRefusedError,
            (
                "Kafka at a:1 closes the connection: authentication of user billing failed, or "
                "security.protocol = SASL_SSL is not the cluster's"
            ),
        ),
        (
            TopicAuthorizationFailedError("orders"),
            AccessDeniedError,
            "Kafka at a:1 denies user billing access: [Error 29] TopicAuthorizationFailedError: orders",
        ),
        (
            KafkaTimeoutError("late"),
            BrokerUnreachableError,
            "Kafka at a:1: KafkaTimeoutError: late",
        ),
    ],
)
def test_a_refusal_is_told(error: Exception, family: type[Exception], message: str) -> None:
    login = {
        "security_protocol": "SASL_SSL",
        "sasl_mechanism": "PLAIN",
        "sasl_plain_username": "billing",
        "sasl_plain_password": "hush",
    }

    told = Connection("a:1", login).failure(error)

    assert type(told) is family
    assert str(told).startswith(message)


@pytest.mark.parametrize(
    ("login", "missing"),
    [
        ({}, "security.protocol = SASL_PLAINTEXT needs sasl.mechanism, such as SCRAM-SHA-512"),
        (
            {"sasl_mechanism": "PLAIN", "sasl_plain_username": "billing"},
            (
                "sasl.mechanism = PLAIN needs username and password in sasl.jaas.config; kafka-python calls them "
                "sasl_plain_username and sasl_plain_password"
            ),
        ),
        (
            {"sasl_mechanism": "OAUTHBEARER"},
            (
                "sasl.mechanism = OAUTHBEARER needs sasl.oauthbearer.token.endpoint.url, and clientId and clientSecret in "
                "sasl.jaas.config"
            ),
        ),
        (
            {"sasl_mechanism": "AWS_MSK_IAM"},
            "sasl.mechanism = AWS_MSK_IAM needs security.protocol = SASL_SSL",
        ),
        ({"sasl_mechanism": "GSSAPI"}, "sasl.mechanism = GSSAPI needs gssapi: pip install gssapi"),
    ],
)
def test_what_a_login_lacks_is_named(login: dict[str, str], missing: str) -> None:
    with pytest.raises(LoginRefusedError) as refused:
        Connection("a:1", {"security_protocol": "SASL_PLAINTEXT", **login})

    assert str(refused.value) == missing


@pytest.mark.parametrize("protocol", ["sasl_ssl", "ssl", "SASL-SSL", "", None])
def test_a_protocol_that_kafka_python_takes_for_plain_text_is_refused(protocol: str | None) -> None:
    with pytest.raises(LoginRefusedError) as refused:
        Connection("a:1", {"security_protocol": protocol})

    assert str(refused.value) == (
        f"security.protocol = {protocol} is not valid: give one of PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL"
    )


def test_who_logs_in_is_a_principal() -> None:
    assert Connection("a:1", {"sasl_plain_username": "billing"}).principal == "User:billing"
    assert Connection("a:1").principal == "User:ANONYMOUS"


def test_a_hint_where_there_is_no_login() -> None:
    told = Connection("a:1").failure(KafkaConnectionError("socket disconnected"))

    assert str(told) == (
        "Kafka at a:1 closes the connection: perhaps security.protocol = PLAINTEXT is not the cluster's"
    )


class ClientOnPaper:
    def __init__(self, **options: Any) -> None:
        self.options = options
        self.is_closed = False

    def ask(self) -> None:
        raise SaslAuthenticationFailedError

    def close(self) -> None:
        self.is_closed = True


@pytest.fixture
def connection() -> Iterator[Connection]:
    """To a port where somebody listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield Connection(f"127.0.0.1:{server.getsockname()[1]}")


def test_a_client_for_a_block_is_closed_after_it(connection: Connection) -> None:
    with connection.opened(ClientOnPaper, acks="all") as client:
        assert client.options == {**connection.client_options(), "acks": "all"}
        assert not client.is_closed

    assert client.is_closed


def test_a_refusal_inside_the_block_is_told_and_the_client_closed(connection: Connection) -> None:
    with pytest.raises(LoginRefusedError), connection.opened(ClientOnPaper) as client:
        client.ask()

    assert client.is_closed


def test_no_client_is_made_where_nobody_listens() -> None:
    with pytest.raises(BrokerUnreachableError), Connection("127.0.0.1:1").opened(ClientOnPaper):
        pytest.fail("there is nobody to talk to")


def test_a_password_does_not_show() -> None:
    assert "hush" not in repr(Connection("a:1", {"sasl_plain_password": "hush"}))


def test_options_reach_every_client() -> None:
    connection = Connection("a:1,SASL_SSL://b:2, [::1]:3,c", {"security_protocol": "SSL"})

    options = connection.client_options()

    assert options["bootstrap_servers"] == ["a:1", "b:2", "[::1]:3", "c:9092"]
    assert options["security_protocol"] == "SSL"


def test_a_broker_that_was_away_is_tried_again_within_a_second() -> None:
    assert Connection("kafka:9092").client_options()["reconnect_backoff_max_ms"] == 1_000


def test_the_timeout_of_the_last_attempt_hides_no_cause() -> None:
    log = logging.getLogger("kafka.net.manager")
    closed = KafkaConnectionError("socket disconnected")
    with logged_errors() as logged:
        for failure in (closed, RequestTimedOutError("Request timed out after 7 ms")):
            log.warning("Connection failed: %s", failure)

    assert logged.cause(KafkaTimeoutError()) is closed


def test_a_long_wait_is_told_and_told_again(caplog: pytest.LogCaptureFixture) -> None:
    with reported_long_wait("an answer", first_s=0.01, again_s=0.02):
        until(lambda: len(caplog.messages) >= 2, seconds=10, awaited="two lines")

    assert caplog.messages[:2] == [
        "waiting for an answer, for 0.01 s so far; SIGTERM or Ctrl-C ends the wait",
        "waiting for an answer, for 0.03 s so far; SIGTERM or Ctrl-C ends the wait",
    ]


def test_a_short_wait_is_not_told(caplog: pytest.LogCaptureFixture) -> None:
    with reported_long_wait("an answer"):
        pass

    assert caplog.messages == []


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
