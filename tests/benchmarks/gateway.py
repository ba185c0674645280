"""What the gateway relays: large answers to Fetch and small Produce requests, beside the same two ends without it.

python -m tests.benchmarks.gateway

The ends are plain sockets that know no more of Kafka than sizes and correlation ids. The gateway is a process of its own;
what counts is its CPU time, as the ends share the machine with it.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Thread
from time import perf_counter
from typing import Any

import click
import psutil

from group_coordinator.codecs import wire
from group_coordinator.gateway.cluster.addresses import Address
from group_coordinator.gateway.cluster.cluster_view import ClusterView
from group_coordinator.gateway.gateway import Gateway, GatewayOptions
from group_coordinator.gateway.rights.own_topics import Closed
from tests.benchmarks.gateway_loads import LOADS, Load
from tests.benchmarks.measured import show
from tests.unit.gateway.stage import LOOPBACK, JobByHand, free_block

NODE = 1
NEVER_MS = 3_600_000
MIB = 1024 * 1024
HEADER = struct.Struct(">ihhi")
ANSWER_HEAD = struct.Struct(">ii")
METADATA = wire.api_key("Metadata")
API_VERSIONS = wire.api_key("ApiVersions")


class Broker:
    """Answers every request of a load with the same bytes, and lets the gateway know its address."""

    def __init__(self) -> None:
        self._server = socket.create_server((LOOPBACK, 0))
        self.port: int = self._server.getsockname()[1]
        self.answer = b""
        Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            connection, _ = self._server.accept()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        received = bytearray()
        while data := connection.recv(MIB):
            received += data
            answers, at = [], 0
            while len(received) - at >= HEADER.size:
                size, key, version, number = HEADER.unpack_from(received, at)
                if len(received) - at < 4 + size:
                    break
                answers.append(self._answer(key, version, number))
                at += 4 + size
            del received[:at]
            connection.sendall(b"".join(answers))

    def _answer(self, key: int, version: int, number: int) -> bytes:
        if key == METADATA:
            brokers = [{"nodeId": NODE, "host": LOOPBACK, "port": self.port}]
            return wire.response("Metadata", version, number, {"brokers": brokers, "topics": []})
        if key == API_VERSIONS:
            entry = {"apiKey": METADATA, "minVersion": 0, "maxVersion": 12}
            return wire.response("ApiVersions", version, number, {"apiKeys": [entry]})
        return ANSWER_HEAD.pack(4 + len(self.answer), number) + self.answer


def exchange(port: int, load: Load, count: int) -> float:
    """Seconds that all exchanges take."""
    with socket.create_connection((LOOPBACK, port)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        begun_s = perf_counter()
        connection.sendall(load.request * load.at_once)
        asked, whole = load.at_once, ANSWER_HEAD.size + len(load.answer)
        buffer, here = bytearray(4 * MIB), 0
        for_all = count * whole
        done = 0
        while done < for_all:
            here = connection.recv_into(buffer)
            more = (done + here) // whole - done // whole
            done += here
            more = min(more, count - asked)
            if more:
                connection.sendall(load.request * more)
                asked += more
        return perf_counter() - begun_s


@contextmanager
def gateway_before(broker: Broker) -> Iterator[tuple[int, psutil.Process]]:
    port = free_block()
    command = [sys.executable, "-m", "tests.benchmarks.gateway", "--serve", str(port)]
    with subprocess.Popen([*command, str(broker.port)], stdout=subprocess.PIPE) as process:  # noqa: S603 - a fixed program
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield port + 1 + NODE, psutil.Process(process.pid)
        finally:
            process.terminate()


def cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def resident_mb(process: psutil.Process) -> int:
    return round(process.memory_info().rss / 1e6)


def measure(seconds: float) -> dict[str, Any]:
    """Each load directly and through the gateway, in turns."""
    broker = Broker()
    found: dict[str, Any] = {}
    with gateway_before(broker) as (port, process):
        found["resident_mb_at_first"] = resident_mb(process)
        for name, load in LOADS.items():
            broker.answer, count = load.answer, round(load.in_a_second * seconds)
            direct_s = exchange(broker.port, load, count)
            before_s = cpu_s(process)
            through_s = exchange(port, load, count)
            spent_s = cpu_s(process) - before_s
            megabytes = count * max(len(load.answer), len(load.request)) / 1e6
            found[f"{name}_per_cpu_second"] = round(count / spent_s)
            found[f"{name}_mb_per_cpu_second"] = round(megabytes / spent_s)
            found[f"{name}_mb_per_second"] = round(megabytes / through_s)
            found[f"{name}_mb_per_second_direct"] = round(megabytes / direct_s)
        found["resident_mb"] = resident_mb(process)
    return found


async def serve(port: int, broker_port: int) -> None:
    """The gateway alone, until it is terminated."""
    view = ClusterView([Address(LOOPBACK, broker_port)], NEVER_MS)
    await view.look_again()
    closed = Closed(frozenset({"group-events", "group-responses"}))
    options = GatewayOptions(Address(LOOPBACK, port), LOOPBACK, NEVER_MS, closed=closed)
    await Gateway(options, view, JobByHand()).open()
    print("open", flush=True)
    await asyncio.Event().wait()


@click.command()
@click.option("--seconds", default=5.0, show_default=True, help="About how long each load takes.")
@click.option("--serve", "ports", nargs=2, type=int, hidden=True)
def main(seconds: float, ports: Sequence[int] | None) -> None:
    """Print the table and the JSON."""
    if ports:
        asyncio.run(serve(*ports))
    else:
        show("What the gateway relays", measure(seconds))


if __name__ == "__main__":
    main()
