"""What thousands of hostile connections before a login cost the gateway, and what others wait meanwhile.

python -m tests.benchmarks.gateway_strangers [--tls]

A real broker that wants a login, and `group-coordinator gateway` in a process of its own. The strangers are a third process:
each does one thing as far as it may go, keeps the connection, and comes again when it is hung up on. Meanwhile a client that has
logged in asks for metadata, which the broker answers, and for a coordinator, which the gateway answers alone; and others log in,
from another address.
"""

from __future__ import annotations

import asyncio
import ssl
import subprocess
import sys
from base64 import b64encode
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from functools import cache
from pathlib import Path
from select import select
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, NamedTuple
from urllib.request import urlopen

import click
import psutil

from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.coordinator_topics import create_topics
from group_coordinator.codecs import wire
from group_coordinator.gateway.connections.tcp_connection import raise_open_files
from group_coordinator.local.broker import LOOPBACK, free_row
from group_coordinator.security import variable_of
from tests.benchmarks.measured import show
from tests.end_to_end.installation import SETTINGS, Installation
from tests.support.authorized_broker import ADMIN, PASSWORD, authorized_broker, login_of
from tests.support.certificates import self_signed
from tests.support.job_process import JobProcess

_CONNECTING_AT_ONCE = 100
_USERS_HOST = "127.0.0.2"
"""Where those come from that have a password."""
_PAUSE_S = 0.02
_READY_S = 60.0
_HANDSHAKE = wire.request("SaslHandshake", 1, 1, "stranger", {"mechanism": "PLAIN"})
_METADATA = wire.request("Metadata", 9, 1, "user", {"topics": []})
_COORDINATOR = wire.request("FindCoordinator", 4, 1, "user", {"coordinatorKeys": ["billing"]})


def _password(text: bytes) -> bytes:
    return wire.request("SaslAuthenticate", 2, 2, "c", {"authBytes": b64encode(text).decode()})


def _api_versions(name: str) -> bytes:
    software = {"clientSoftwareName": name, "clientSoftwareVersion": "1"}
    return wire.request("ApiVersions", 3, 1, "stranger", software)


_KINDS: dict[str, bytes] = {
    "silent": b"",
    "unfinished ApiVersions, 8 KiB": _api_versions("x" * 8_140)[:-1],
    "unfinished SaslAuthenticate, 512 KiB": _HANDSHAKE + _password(b"x" * 524_200)[:-1],
    "whole SaslAuthenticate, 512 KiB": _HANDSHAKE + _password(b"x" * 524_200),
    "wrong passwords": _HANDSHAKE + _password(b"\0admin\0wrong"),
    "ApiVersions that are not read": _api_versions("x") * 5_000,
}
"""What a stranger sends; it reads nothing."""

Times = dict[str, list[float]]


@cache
def _trusting(certificate: Path) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=certificate)


class Streams(NamedTuple):
    """A connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def ask(self, request: bytes) -> bytes:
        self.writer.write(request)
        return await self.reader.readexactly(int.from_bytes(await self.reader.readexactly(4)))


class Place(NamedTuple):
    """Where the gateway is."""

    port: int
    health: str
    certificate: Path | None

    async def connected(self, host: str = LOOPBACK) -> Streams:
        tls = None if self.certificate is None else _trusting(self.certificate)
        return Streams(
            *await asyncio.open_connection(LOOPBACK, self.port, ssl=tls, local_addr=(host, 0))
        )

    @asynccontextmanager
    async def logged_in(self) -> AsyncIterator[Streams]:
        streams = await self.connected(_USERS_HOST)
        try:
            await streams.ask(_HANDSHAKE)
            answer = await streams.ask(_password(f"\0{ADMIN}\0{PASSWORD}".encode()))
            assert wire.response_body("SaslAuthenticate", 2, answer)[1]["errorCode"] == 0
            yield streams
        finally:
            streams.writer.transport.abort()

    def closed(self) -> int:
        """How many connections a limit has closed."""
        with urlopen(f"http://{self.health}/metrics", timeout=_READY_S) as page:
            lines = page.read().decode().splitlines()
        return sum(int(line.split()[-1]) for line in lines if "_closed_total" in line)


async def _strangers(place: Place, kind: str, count: int) -> None:
    """Until this is cancelled; prints one line when all have connected."""
    raise_open_files()
    turns = asyncio.Semaphore(_CONNECTING_AT_ONCE)
    connected: set[int] = set()

    async def stranger(number: int) -> None:
        while True:
            with suppress(OSError):
                async with turns:
                    streams = await place.connected()
                connected.add(number)
                if len(connected) == count:
                    print("whole", flush=True)
                streams.writer.transport.pause_reading()
                streams.writer.write(_KINDS[kind])
                with suppress(OSError):
                    await streams.writer.drain()
                while not streams.writer.transport.is_closing():
                    await asyncio.sleep(1)
                    streams.writer.transport.resume_reading()  # to see the end
            await asyncio.sleep(1)

    await asyncio.gather(*map(stranger, range(count)))


async def _asked(place: Place, seconds: float, is_whole: Callable[[], bool]) -> Times:
    """What others wait until `seconds` after the crowd was whole."""
    times: Times = {"metadata": [], "coordinator": [], "login": [], "login that failed": []}
    whole_at_s: float | None = None
    async with place.logged_in() as user:
        while whole_at_s is None or perf_counter() < whole_at_s + seconds:
            for name, request in (("metadata", _METADATA), ("coordinator", _COORDINATOR)):
                begun_s = perf_counter()
                await user.ask(request)
                times[name].append(perf_counter() - begun_s)
                await asyncio.sleep(_PAUSE_S)
            begun_s = perf_counter()
            try:
                async with place.logged_in():
                    times["login"].append(perf_counter() - begun_s)
            except (OSError, EOFError):
                times["login that failed"].append(perf_counter() - begun_s)
            if is_whole() and whole_at_s is None:
                whole_at_s = perf_counter()
    return times


def _told(name: str, times: Times) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for what, waits_s in times.items():
        ordered = sorted(waits_s)
        if not ordered:
            continue
        found[f"{name}: {what}, median ms"] = round(median(ordered) * 1000, 1)
        found[f"{name}: {what}, 99 % ms"] = round(ordered[int(len(ordered) * 0.99)] * 1000, 1)
        found[f"{name}: {what}, longest ms"] = round(ordered[-1] * 1000, 1)
    return found


def _measure_kind(
    place: Place, gateway: psutil.Process, kind: str, count: int, seconds: float
) -> dict[str, Any]:
    def resident_mb() -> float:
        return float(gateway.memory_info().rss) / 1e6

    most_mb, closed = resident_mb(), place.closed()
    begun_s, begun_cpu_s = perf_counter(), sum(gateway.cpu_times()[:2])

    def is_whole() -> bool:
        nonlocal most_mb
        most_mb = max(most_mb, resident_mb())
        return bool(select([crowd.stdout], [], [], 0)[0])

    certificate = [] if place.certificate is None else [str(place.certificate)]
    arguments = ["--crowd", kind, str(count), str(place.port), *certificate]
    command = [sys.executable, "-m", "tests.benchmarks.gateway_strangers", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as crowd:  # noqa: S603 - a fixed program
        try:
            times = asyncio.run(_asked(place, seconds, is_whole))
        finally:
            crowd.terminate()
    spent_s = sum(gateway.cpu_times()[:2]) - begun_cpu_s
    return {
        f"{kind}: MB at most": round(most_mb),
        f"{kind}: closed by a limit": place.closed() - closed,
        f"{kind}: part of a core": round(spent_s / (perf_counter() - begun_s), 2),
        **_told(kind, times),
    }


@contextmanager
def _gateway(folder: Path, *, tls: bool) -> Iterator[tuple[Place, psutil.Process]]:
    with ExitStack() as resources:
        broker = authorized_broker([], **{"authorizer.class.name": ""})
        broker.start()
        resources.callback(broker.stop)
        first = free_row(4)
        place = Place(first, f"{LOOPBACK}:{first + 3}", self_signed(folder) if tls else None)
        made = Installation.named(
            "strangers",
            broker.bootstrap_servers,
            folder,
            (
                *SETTINGS,
                f"gateway.listen={LOOPBACK}:{place.port}",
                f"gateway.health.listen={place.health}",
                "security.protocol=SASL_PLAINTEXT",
                "sasl.mechanism=PLAIN",
                f"sasl.username={ADMIN}",
                *([f"gateway.ssl.keystore.location={place.certificate}"] if tls else []),
            ),
        )
        secret = {variable_of("sasl.password"): PASSWORD}
        job = Installation(made.bootstrap_servers, folder, made.overrides[:2]).settings.job
        create_topics(Connection(made.bootstrap_servers, login_of(ADMIN)), job)
        process = resources.enter_context(
            JobProcess(["gateway", *made.options], folder, variables=secret)
        )
        process.until(lambda: _is_ready(place), seconds=_READY_S, awaited="readiness")
        yield place, psutil.Process(process.pid)


def _is_ready(place: Place) -> bool:
    with suppress(OSError), urlopen(f"http://{place.health}/ready", timeout=_READY_S):
        return True
    return False


def measure(count: int, seconds: float, kinds: Sequence[str], *, tls: bool) -> dict[str, Any]:
    """Each kind after the other, at one gateway."""
    found: dict[str, Any] = {"strangers": count}
    with (
        TemporaryDirectory(prefix="gateway-strangers-") as folder,
        _gateway(Path(folder), tls=tls) as (place, gateway),
    ):
        found["MB before"] = round(gateway.memory_info().rss / 1e6)
        found |= _told("without them", asyncio.run(_asked(place, seconds, lambda: True)))
        for kind in kinds:
            found |= _measure_kind(place, gateway, kind, count, seconds)
            print(found, file=sys.stderr, flush=True)
    return found


@click.command()
@click.option("--strangers", default=2_000, show_default=True, help="Connections before a login.")
@click.option("--seconds", default=15.0, show_default=True, help="How long each kind is there.")
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    type=click.Choice([*_KINDS]),
    help="Only this kind. Repeatable.",
)
@click.option("--tls", is_flag=True, help="Clients speak TLS.")
@click.option("--crowd", is_flag=True, hidden=True)
@click.argument("crowd_arguments", nargs=-1, type=str)
def main(
    strangers: int,
    seconds: float,
    kinds: Sequence[str],
    crowd_arguments: Sequence[str],
    *,
    tls: bool,
    crowd: bool,
) -> None:
    """Print the table and the JSON."""
    if crowd:
        kind, count, port, *certificate = crowd_arguments
        place = Place(int(port), "", Path(certificate[0]) if certificate else None)
        asyncio.run(_strangers(place, kind, int(count)))
    else:
        show(
            "What strangers cost the gateway",
            measure(strangers, seconds, kinds or [*_KINDS], tls=tls),
        )


if __name__ == "__main__":
    main()
