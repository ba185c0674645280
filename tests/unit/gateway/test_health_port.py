from __future__ import annotations

import asyncio
from http import HTTPStatus

import pytest

from group_coordinator.gateway.cluster.addresses import Address
from group_coordinator.gateway.counters import Counters, Gauges
from group_coordinator.gateway.health_port import HealthPort, Page
from group_coordinator.gateway.metrics_page import metrics_page
from group_coordinator.gateway.served import APIS
from tests.unit.gateway.stage import LOOPBACK, free_block, settled

PAGES = {
    "/live": lambda: Page(HTTPStatus.OK, "live\n"),
    "/ready": lambda: Page(HTTPStatus.SERVICE_UNAVAILABLE, "no broker\n"),
}


@pytest.mark.parametrize(
    ("request_line", "status", "body"),
    [
        ("GET /live HTTP/1.1", "200 OK", "live\n"),
        ("GET /live?verbose=1 HTTP/1.0", "200 OK", "live\n"),
        ("GET /ready HTTP/1.1", "503 Service Unavailable", "no broker\n"),
        ("GET / HTTP/1.1", "404 Not Found", "/live /ready\n"),
        ("POST /live HTTP/1.1", "405 Method Not Allowed", "GET only\n"),
        ("nonsense", "405 Method Not Allowed", "GET only\n"),
    ],
)
def test_pages(request_line: str, status: str, body: str) -> None:
    head, _, shown = asyncio.run(asked(f"{request_line}\r\nHost: x\r\n\r\n")).partition("\r\n\r\n")

    assert head.splitlines()[0] == f"HTTP/1.1 {status}"
    assert shown == body


@pytest.mark.parametrize("sent", ["", "GET /live HTTP/1.1\r\n" + "X: y\r\n" * 5_000])
def test_who_does_not_speak_http_hears_nothing(sent: str) -> None:
    assert asyncio.run(asked(sent, ends=True)) == ""


async def asked(text: str, *, ends: bool = False) -> str:
    port = HealthPort(PAGES)
    address = Address(LOOPBACK, free_block())
    await port.open(address)
    reader, writer = await asyncio.open_connection(*address)
    writer.write(text.encode())
    if ends:
        writer.write_eof()
    try:
        return (await reader.read()).decode()
    except ConnectionResetError:
        return ""
    finally:
        writer.close()
        port.close()
        await settled()


def test_counters_as_monitoring_reads_them() -> None:
    counters = Counters()
    counters.connections = 3
    counters.requests.update({("Fetch", 12, None): 7, ("JoinGroup", 9, 2): 1})
    counters.count_refused(APIS[1], 16)
    counters.count_refused(None, 4)
    counters.count_answer("Heartbeat", 0.07)
    counters.count_answer("Heartbeat", 0.6)

    lines = metrics_page(counters, Gauges(2, 5, 1, 3)).splitlines()

    prefix = "group_coordinator_gateway_"
    assert all(line.startswith(prefix) for line in lines)
    assert [line.removeprefix(prefix) for line in lines] == [
        "connections 2",
        "open_requests 5",
        "parked_requests 1",
        "nodes_without_port 3",
        "connections_total 3",
        "malformed_total 0",
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
    ]
