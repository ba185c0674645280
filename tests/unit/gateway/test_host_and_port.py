from __future__ import annotations

import pytest

from group_coordinator.gateway.cluster.addresses import Address
from group_coordinator.gateway.cluster.host_and_port import bare_host, listen_address
from group_coordinator.gateway.login.caller import client_host


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


def test_a_host_in_an_answer_of_kafka_has_no_brackets() -> None:
    assert [bare_host(each) for each in ("[::1]", "::1", "kafka-1", "")] == [
        "::1",
        "::1",
        "kafka-1",
        "",
    ]


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
