"""What Kafka's own clients (ClientUtils of kafka-clients 4.4.0) and kafka-python take, in the same words."""

from __future__ import annotations

import pytest

from group_coordinator.codecs.host_and_port import (
    AddressError,
    broker_addresses,
    broker_list,
    host_alone,
    host_and_port,
)


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("kafka-1:9092", ("kafka-1", 9092)),
        (" 127.0.0.1:9092 ", ("127.0.0.1", 9092)),
        ("SASL_SSL://127.0.0.1:9092", ("127.0.0.1", 9092)),
        ("sasl_ssl://127.0.0.1:9092", ("127.0.0.1", 9092)),
        ("my-listener.x%://127.0.0.1:1", ("127.0.0.1", 1)),
        ("://127.0.0.1:1", ("127.0.0.1", 1)),
        ("[::1]:9092", ("::1", 9092)),
        ("::1:9092", ("::1", 9092)),
        ("PLAINTEXT://[2001:db8::7]:9092", ("2001:db8::7", 9092)),
        ("PLAINTEXT://::1:9092", ("::1", 9092)),
        ("[fe80::1%eth0]:9092", ("fe80::1%eth0", 9092)),
        ("[127.0.0.1]:9092", ("127.0.0.1", 9092)),
        ("my_host:1", ("my_host", 1)),
        ("127.0.0.1:00009092", ("127.0.0.1", 9092)),
        ("bücher.example:1", ("xn--bcher-kva.example", 1)),
    ],
)
def test_an_address(text: str, address: tuple[str, int]) -> None:
    assert host_and_port(text) == address


@pytest.mark.parametrize(
    "text",
    [
        *("", ":9092", "kafka-1", "kafka-1:", "kafka-1:none", "kafka-1:-1", "kafka-1:65536"),
        *(
            "kafka-1:99999999999",
            "kafka-1:\u0661",
            "[::1]",
            "::1",
            "[::1:9092",
            "a b:1",
            "SSL://a@b:1",
        ),
        *("SSL:127.0.0.1:1", "SSL:/kafka-1:1", "SSL:///kafka-1:1", "SSL://kafka-1:1/"),
        *("+S://kafka-1:1", "a://b://kafka-1:1", "a..b:1", "é" * 80 + ":1", "\udcff:1"),
    ],
)
def test_no_address(text: str) -> None:
    with pytest.raises(AddressError) as refused:
        host_and_port(text)

    assert str(refused.value) == (f"{text!r} is not HOST:PORT, [IPv6]:PORT or PROTOCOL://HOST:PORT")


def test_a_list_of_brokers_in_mixed_forms() -> None:
    text = "kafka-1:9093, SASL_SSL://kafka-2:9094,,PLAINTEXT://[::1]:9095,kafka-3,"

    assert broker_addresses(text) == [
        ("kafka-1", 9093),
        ("kafka-2", 9094),
        ("::1", 9095),
        ("kafka-3", 9092),
    ]
    assert broker_list(text) == "kafka-1:9093,kafka-2:9094,[::1]:9095,kafka-3:9092"


@pytest.mark.parametrize(("text", "wrong"), [("a:1,b:x", "'b:x'"), (",", "','"), ("", "''")])
def test_no_list_of_brokers(text: str, wrong: str) -> None:
    with pytest.raises(AddressError) as refused:
        broker_list(text)

    assert str(refused.value) == (f"{wrong} is not HOST:PORT, [IPv6]:PORT or PROTOCOL://HOST:PORT")


@pytest.mark.parametrize(
    ("text", "host"),
    [
        *(("kafka-1", "kafka-1"), ("SSL://kafka-1", "kafka-1"), ("[::1]", "::1"), ("::1", "::1")),
        ("PLAINTEXT://[2001:db8::7]", "2001:db8::7"),
    ],
)
def test_a_host_alone(text: str, host: str) -> None:
    assert host_alone(text) == host


@pytest.mark.parametrize("text", ["kafka-1:9092", "SSL://kafka-1:9092", "[::1]:9092", "a b", "::x"])
def test_no_host_alone(text: str) -> None:
    with pytest.raises(AddressError) as refused:
        host_alone(text)

    assert str(refused.value) == f"{text!r} is not a HOST or an IPv6 address without a port"
