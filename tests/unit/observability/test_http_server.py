"""Hostile clients of the HTTP server; of a gateway's port: tests/unit/gateway/test_health_port.py."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from group_coordinator.observability import http_server
from group_coordinator.observability.http_server import is_addressed, is_own_name, metrics_port
from tests.support.until import until

LOOPBACK = "127.0.0.1"
REQUEST = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    monkeypatch.setattr(http_server, "REQUEST_TIMEOUT_S", 0.5)
    monkeypatch.setattr(http_server, "MOST_CONNECTIONS", 2)
    with metrics_port((LOOPBACK, 0), bytes, lambda: None) as number:
        yield number


def connected(port: int) -> socket.socket:
    return socket.create_connection((LOOPBACK, port), timeout=0.05)


def is_closed(client: socket.socket) -> bool:
    try:
        return client.recv(100) == b""
    except TimeoutError:
        return False
    except ConnectionResetError:
        return True


def test_an_idle_client_is_closed(port: int, capfd: pytest.CaptureFixture[str]) -> None:
    with connected(port) as client:
        until(lambda: is_closed(client), seconds=5, awaited="the end of the connection")

    assert capfd.readouterr() == ("", "")


def test_a_client_that_sends_a_byte_from_time_to_time_is_closed(port: int) -> None:
    def is_closed_after_a_byte() -> bool:
        client.send(b"G")
        return is_closed(client)

    with connected(port) as client:
        until(is_closed_after_a_byte, seconds=5, awaited="the end of the connection")


def test_a_request_that_is_too_long_gets_no_response(port: int) -> None:
    with connected(port) as client:
        client.sendall(b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 1_500 + b"\r\n")
        client.settimeout(5)
        assert is_closed(client)


def test_there_are_threads_for_a_few_connections(port: int) -> None:
    def is_served() -> bool:
        with connected(port) as client:
            client.settimeout(5)
            client.sendall(REQUEST)
            return client.recv(100).startswith(b"HTTP/1.0 ")

    with connected(port), connected(port), connected(port) as one_too_many:
        one_too_many.settimeout(0.3)
        assert is_closed(one_too_many)

    until(is_served, seconds=5, awaited="a response")


def test_a_port_beyond_loopback_has_more_names_than_its_setting() -> None:
    assert is_addressed("coordinator.example:9404", "192.0.2.7")
    assert not is_addressed("coordinator.example:9404", LOOPBACK)
    assert is_addressed(None, LOOPBACK)


@pytest.mark.parametrize(
    ("host", "is_own"),
    [
        ("127.0.0.1:8090", True),
        ("[::1]:8090", True),
        ("LOCALHOST", True),
        ("reports.example:8090", True),
        ("other.example", False),
        ("127.0.0.1.evil.example", False),
        ("localhost,evil.example", False),
        ("[", False),
        ("", False),
    ],
)
def test_names_of_a_server(host: str, *, is_own: bool) -> None:
    assert is_own_name(host, "reports.example") is is_own
