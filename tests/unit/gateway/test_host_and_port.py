from __future__ import annotations

import pytest

from group_coordinator.gateway.cluster.addresses import (
    Address,
    advertised_host,
    check_protocol,
    listen_address,
)
from group_coordinator.gateway.login import client_host
from group_coordinator.gateway.start_errors import GatewayStartError


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("0.0.0.0:19092", Address("0.0.0.0", 19092)),  # noqa: S104 - nobody listens
        ("kafka.example.com:9092", Address("kafka.example.com", 9092)),
        ("[::1]:19092", Address("::1", 19092)),
        ("[2001:db8::7]:19092", Address("2001:db8::7", 19092)),
    ],
)
def test_an_address_is_read_and_told_in_the_same_words(text: str, address: Address) -> None:
    assert listen_address("gateway.listen", text) == address
    assert str(address) == text


def test_an_address_with_a_protocol_as_in_listeners_of_kafka() -> None:
    assert listen_address("gateway.listen", "PLAINTEXT://0.0.0.0:9") == ("0.0.0.0", 9)  # noqa: S104 - nothing listens


def test_a_host_in_an_answer_of_kafka_has_no_brackets() -> None:
    hosts = ("[::1]", "::1", "kafka-1", "SASL_SSL://kafka-1")

    assert [advertised_host("gateway.advertised.host", each) for each in hosts] == [
        "::1",
        "::1",
        "kafka-1",
        "kafka-1",
    ]


def test_an_advertised_host_with_a_port_is_refused() -> None:
    with pytest.raises(GatewayStartError) as refused:
        advertised_host("gateway.advertised.host", "SSL://kafka-1:9092")

    assert str(refused.value) == (
        "gateway.advertised.host = SSL://kafka-1:9092 is not a host without a port: remove the port; clients get the ports "
        "of gateway.listen"
    )


def test_a_protocol_that_clients_cannot_speak() -> None:
    tls = r"gateway\.listen = sasl_ssl://me:1 is TLS: set gateway\.ssl\.keystore\.location"
    with pytest.raises(GatewayStartError, match=tls):
        check_protocol("gateway.listen", "sasl_ssl://me:1", is_encrypted=False)

    with pytest.raises(GatewayStartError, match="is not TLS: remove gateway"):
        check_protocol("gateway.listen", "PLAINTEXT://me:1", is_encrypted=True)


def test_a_protocol_that_clients_can_speak() -> None:
    check_protocol("gateway.listen", "SSL://me:1", is_encrypted=True)
    check_protocol("gateway.listen", "SASL_PLAINTEXT://me:1", is_encrypted=False)
    check_protocol("gateway.listen", "me:1", is_encrypted=True)


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("10.0.0.7", "/10.0.0.7"),
        ("::1", "/0:0:0:0:0:0:0:1"),
        ("2001:db8::ff00:42:8329", "/2001:db8:0:0:0:ff00:42:8329"),
        ("", "/"),
    ],
)
def test_a_client_is_where_java_says(address: str, host: str) -> None:
    """As Inet6Address.getHostAddress writes it."""
    assert client_host(address) == host
