"""Clients that are too many, that send garbage, or that do not read their answers; the others must not notice."""

from __future__ import annotations

import random
import socket
import time
from collections.abc import Callable
from contextlib import ExitStack
from statistics import median

from group_coordinator.codecs import wire
from group_coordinator.local.broker import LOOPBACK
from tests.faults.result import Result
from tests.gateway_faults.frames import ask, read_frame
from tests.gateway_faults.relay import filled
from tests.gateway_faults.stage import Stage

_CONNECTIONS = 1_000
_GARBAGE_CONNECTIONS = 2_000
_ASKED = 200
_SLOW_READERS = 20
_FETCHES_EACH = 64
_TIMEOUT_S = 20.0
_MOST_GROWTH_MB = 200
"""20 slow readers, for each of which the gateway holds a megabyte and the system some more."""
_METADATA = wire.request("Metadata", 9, 1, "strain", {"topics": []})


def many_connections(stage: Stage) -> Result:
    """All open at a time, each with an answer of the broker behind it."""
    before_mb = stage.resident_mb
    with ExitStack() as held:
        opened = [held.enter_context(_connected(stage.port)) for _ in range(_CONNECTIONS)]
        begun_s = time.monotonic()
        for connection in opened:
            connection.sendall(_METADATA)
        answers = [read_frame(connection) for connection in opened]
        took_s = time.monotonic() - begun_s
        figures = {
            "connections": len(answers),
            "all answered in s": round(took_s, 1),
            "ms for one more": _median_ms(stage),
            "kB a connection": round((stage.resident_mb - before_mb) * 1000 / _CONNECTIONS),
        }
    problems = [] if stage.page("/live") else ["the gateway is gone"]
    return Result("connections", 1, 0, 0, problems, figures)


def garbage(stage: Stage) -> Result:
    """Random bytes, sizes out of bounds, cut requests, HTTP and TLS; beside them somebody asks the usual question."""
    drawn = random.Random(0)  # noqa: S311 - no secret
    before_mb, kinds = stage.resident_mb, _kinds(drawn)
    hung_up = 0
    for number in range(_GARBAGE_CONNECTIONS):
        with _connected(stage.port if number % 2 else stage.node_port) as connection:
            try:
                connection.sendall(kinds[number % len(kinds)]())
                connection.shutdown(socket.SHUT_WR)
                hung_up += connection.recv(1) == b""
            except ConnectionError:
                hung_up += 1
    figures = {
        "connections": _GARBAGE_CONNECTIONS,
        "hung up on": hung_up,
        "ms of the next question": _median_ms(stage),
        "MB more in memory": stage.resident_mb - before_mb,
    }
    problems = [] if stage.page("/ready") else ["the gateway is not ready any more"]
    return Result("garbage", 1, 0, 0, problems, figures)


def _kinds(drawn: random.Random) -> list[Callable[[], bytes]]:
    return [
        lambda: drawn.randbytes(drawn.randrange(1, 2_000)),
        lambda: drawn.choice([0, 7, -1, 2**31 - 1]).to_bytes(4, signed=True) + drawn.randbytes(100),
        lambda: _METADATA[: drawn.randrange(1, len(_METADATA))],
        lambda: _METADATA[:8] + drawn.randbytes(len(_METADATA) - 8),
        lambda: b"GET / HTTP/1.1\r\nHost: kafka\r\n\r\n",
        lambda: bytes.fromhex("16030100c8010000c40303") + drawn.randbytes(200),
    ]


def slow_reader(stage: Stage) -> Result:
    """Each asks for many fetches of a megabyte at once, and reads nothing; somebody else goes on as before."""
    filled(stage, 2_000_000)
    before_mb, calm_ms = stage.resident_mb, _median_ms(stage)
    with ExitStack() as held:
        readers = [held.enter_context(_connected(stage.node_port)) for _ in range(_SLOW_READERS)]
        for reader in readers:
            reader.sendall(ask(0, 1) * _FETCHES_EACH)
        time.sleep(2)
        strained_ms, held_mb = _median_ms(stage), stage.resident_mb - before_mb
        whole = sum(len(read_frame(reader)) for reader in readers for _ in range(_FETCHES_EACH))
    figures = {
        "readers": _SLOW_READERS,
        "MB asked for and read later": round(whole / 1e6),
        "MB more in memory meanwhile": held_mb,
        "ms of others before": calm_ms,
        "ms of others meanwhile": strained_ms,
    }
    problems = [] if held_mb < _MOST_GROWTH_MB else [f"the gateway held {held_mb} MB"]
    return Result("slow-reader", 1, 0, 0, problems, figures)


def _connected(port: int) -> socket.socket:
    return socket.create_connection((LOOPBACK, port), timeout=_TIMEOUT_S)


def _median_ms(stage: Stage) -> float:
    """What an exchange with the broker takes on a connection of its own."""
    waits_s = []
    with _connected(stage.port) as connection:
        for _ in range(_ASKED):
            begun_s = time.perf_counter()
            connection.sendall(_METADATA)
            read_frame(connection)
            waits_s.append(time.perf_counter() - begun_s)
    return round(median(waits_s) * 1000, 1)
