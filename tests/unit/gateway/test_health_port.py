from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus

import pytest

from group_coordinator.gateway.api_versions import APIS
from group_coordinator.gateway.cluster.addresses import Address
from group_coordinator.gateway.counters import Counters, Gauges, metrics_page
from group_coordinator.gateway.health_port import health_port
from group_coordinator.observability import http_server
from group_coordinator.observability.http_server import Page
from tests.unit.gateway.stage import LOOPBACK, free_block

HOST = "localhost:19091"
LARGE_BYTES = 32 * 1024 * 1024
"""More than the buffers between two sockets."""
PAGES = {
    "/live": lambda: Page(HTTPStatus.OK, "live\n"),
    "/ready": lambda: Page(HTTPStatus.SERVICE_UNAVAILABLE, "no broker\n"),
}


@pytest.mark.parametrize(
    ("request_line", "status", "body"),
    [
        ("GET /live HTTP/1.1", "200 OK", "live\n"),
        ("GET /live?verbose=1 HTTP/1.0", "200 OK", "live\n"),
        ("HEAD /live HTTP/1.1", "200 OK", ""),
        ("HEAD /ready HTTP/1.1", "503 Service Unavailable", ""),
        ("HEAD / HTTP/1.1", "404 Not Found", ""),
        ("GET /ready HTTP/1.1", "503 Service Unavailable", "no broker\n"),
        ("GET / HTTP/1.1", "404 Not Found", "/live /ready\n"),
        ("POST /live HTTP/1.1", "405 Method Not Allowed", "GET only\n"),
    ],
)
def test_pages(request_line: str, status: str, body: str) -> None:
    head, _, shown = asyncio.run(asked(f"{request_line}\r\nHost: {HOST}\r\n\r\n")).partition(
        "\r\n\r\n"
    )

    assert head.splitlines()[0] == f"HTTP/1.0 {status}"
    assert shown == body
    # The length of a response to HEAD would be that of the body that GET has.
    assert "Content-Length: 0" not in head


def test_a_page_from_elsewhere_cannot_read_it_by_a_second_name() -> None:
    said = asyncio.run(asked("GET /live HTTP/1.0\r\nHost: localhost\r\nhost:evil.example\r\n\r\n"))

    assert said.splitlines()[0] == "HTTP/1.0 421 Misdirected Request"


def test_a_client_that_does_not_read_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server, "REQUEST_TIMEOUT_S", 0.5)
    monkeypatch.setattr(http_server, "MOST_CONNECTIONS", 1)

    async def told() -> int:
        pages = {"/large": lambda: Page(HTTPStatus.OK, "x" * LARGE_BYTES), **PAGES}
        async with opened(pages) as address:
            reader, writer = await asyncio.open_connection(*address)
            writer.write(b"GET /large HTTP/1.1\r\n\r\n")
            async with asyncio.timeout(10):
                while not await response(address, "GET /live HTTP/1.1\r\n\r\n"):
                    pass
            read = 0
            with suppress(ConnectionResetError):
                while part := await reader.read(1024 * 1024):
                    read += len(part)
            writer.close()
            return read

    assert asyncio.run(told()) < LARGE_BYTES


async def asked(text: str) -> str:
    async with opened(PAGES) as address:
        return await response(address, text)


@asynccontextmanager
async def opened(pages: Mapping[str, Callable[[], Page]]) -> AsyncIterator[Address]:
    address = Address(LOOPBACK, free_block())
    with health_port(address, pages):
        yield address


async def response(address: Address, text: str) -> str:
    reader, writer = await asyncio.open_connection(*address)
    writer.write(text.encode())
    try:
        return (await reader.read()).decode()
    except ConnectionResetError:
        return ""
    finally:
        writer.close()


def test_counters_as_monitoring_reads_them() -> None:
    counters = Counters()
    counters.connections = 3
    counters.requests.update({("Fetch", 12, None): 7, ("JoinGroup", 9, 2): 1})
    counters.count_refused(APIS[1], 16)
    counters.count_refused(None, 4)
    counters.closed["login-timeout"] += 2
    counters.count_answer("Heartbeat", 0.07)
    counters.count_answer("Heartbeat", 0.6)

    lines = metrics_page(counters, Gauges(2, 5, 1, 3, 4), {"replica_groups": 6}).splitlines()

    prefix = "group_coordinator_gateway_"
    assert all(line.startswith(prefix) for line in lines)
    assert [line.removeprefix(prefix) for line in lines] == [
        "connections 2",
        "open_requests 5",
        "parked_requests 1",
        "nodes_without_port 3",
        "throttled_total 4",
        "connections_total 3",
        "malformed_total 0",
        "failed_total 0",
        'closed_total{reason="login-timeout"} 2',
        'requests_total{api="Fetch",version="12",place="bootstrap"} 7',
        'requests_total{api="JoinGroup",version="9",place="node-2"} 1',
        'refused_total{api="Fetch",version="16"} 1',
        'refused_total{api="unknown"} 1',
        'answer_seconds_bucket{api="Heartbeat",le="0.05"} 0',
        'answer_seconds_bucket{api="Heartbeat",le="0.1"} 1',
        'answer_seconds_bucket{api="Heartbeat",le="0.25"} 1',
        'answer_seconds_bucket{api="Heartbeat",le="0.5"} 1',
        'answer_seconds_bucket{api="Heartbeat",le="1.0"} 2',
        'answer_seconds_bucket{api="Heartbeat",le="2.0"} 2',
        'answer_seconds_bucket{api="Heartbeat",le="5.0"} 2',
        'answer_seconds_bucket{api="Heartbeat",le="10.0"} 2',
        'answer_seconds_bucket{api="Heartbeat",le="+Inf"} 2',
        'answer_seconds_sum{api="Heartbeat"} 0.670000',
        'answer_seconds_count{api="Heartbeat"} 2',
        "replica_groups 6",
    ]
