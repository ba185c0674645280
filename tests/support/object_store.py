"""A real S3 server on this machine, behind a proxy that makes each request take as long as to a store in its region.

The server is versitygw, which `go install` builds once into the user's cache.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import socket
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from threading import Event, Thread
from typing import NamedTuple

from group_coordinator.local.cache import cache_folder, only_one_process
from group_coordinator.local.ports import free_ports
from tests.support.until import until

_MODULE = "github.com/versity/versitygw/cmd/versitygw"
_VERSION = "v1.8.0"
BUCKET, ACCESS_KEY, SECRET_KEY, REGION = "coordinator", "tests", "of-the-tests", "us-east-1"
_LINE = re.compile(
    r"\[(?P<at>[^]]+)\] \S+ \S+ \S+ s3_(?P<operation>\w+) (?P<key>\S+) \S+ (?P<status>\d+) "
)
_START_S = 20.0
_PIECE_BYTES = 1 << 16


class GoMissingError(RuntimeError):
    """The server cannot be built."""


class Mood(Enum):
    """How the store takes what is asked of it."""

    WELL = "well"
    SLOW_DOWN = "slow down"
    """503, as S3 says to who asks too much."""
    HANGS = "hangs"
    AWAY = "away"
    """Nobody is there, and who was connected is hung up on."""


class Request(NamedTuple):
    """A line of the access log; the key is "-" where a whole bucket is asked about."""

    operation: str
    key: str
    status: int


class ObjectStore:
    """One bucket."""

    def __init__(self, folder: Path, proxy: Proxy) -> None:
        self._log = folder / "access.log"
        self.proxy = proxy
        self._seen = 0

    @property
    def endpoint(self) -> str:
        """For clients."""
        return f"http://127.0.0.1:{self.proxy.port}"

    def requests(self) -> list[Request]:
        """What came since this was asked last."""
        lines = self._log.read_text().splitlines()
        new, self._seen = lines[self._seen :], len(lines)
        found = (_LINE.search(line) for line in new)
        return [Request(m["operation"], m["key"], int(m["status"])) for m in found if m]

    def spark_settings(self) -> Mapping[str, str]:
        """For a session that shall reach it by s3a."""
        return {
            "spark.hadoop.fs.s3a.endpoint": self.endpoint,
            "spark.hadoop.fs.s3a.endpoint.region": REGION,
            "spark.hadoop.fs.s3a.path.style.access": "true",
            "spark.hadoop.fs.s3a.access.key": ACCESS_KEY,
            "spark.hadoop.fs.s3a.secret.key": SECRET_KEY,
        }

    def environment(self) -> Mapping[str, str]:
        """For clients without Spark."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ALLOW_HTTP": "true",
            "AWS_REGION": REGION,
            "AWS_ACCESS_KEY_ID": ACCESS_KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
        }


@dataclass(slots=True)
class Turn:
    """Of a connection: what its client sends next is a new request once the server has answered."""

    is_new_request: bool = True


class Proxy:
    """Passes bytes on, later; in a thread of its own."""

    def __init__(self, server_port: int) -> None:
        self._server_port = server_port
        self.delay_s = 0.0
        """Of each request's way there."""
        self.mood = Mood.WELL
        self._writers: set[asyncio.StreamWriter] = set()
        self._serving: set[asyncio.Task[None]] = set()
        self.port = 0
        self._stop = asyncio.Event()
        self._is_open = Event()
        self._thread = Thread(target=lambda: asyncio.run(self._run()))
        self._thread.start()
        self._is_open.wait()

    def close(self) -> None:
        """End the thread."""
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    async def _run(self) -> None:
        self._loop = asyncio.get_running_loop()
        opened = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = int(opened.sockets[0].getsockname()[1])
        self._is_open.set()
        await self._stop.wait()
        opened.close()
        self._hang_up()
        await asyncio.gather(*self._serving)

    def set_mood(self, mood: Mood) -> None:
        """From now on; who is connected is hung up on."""
        self.mood = mood
        self._loop.call_soon_threadsafe(self._hang_up)

    def _hang_up(self) -> None:
        for writer in self._writers:
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        task = asyncio.current_task()
        assert task is not None
        self._serving.add(task)
        try:
            await self._passed_on(reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            pass  # either side has gone
        finally:
            self._writers.discard(writer)
            self._serving.discard(task)
            writer.close()

    async def _passed_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.mood is Mood.AWAY:
            return
        if self.mood is not Mood.WELL:
            await self._refused(reader, writer)
            return
        from_server, to_server = await asyncio.open_connection("127.0.0.1", self._server_port)
        try:
            async with asyncio.TaskGroup() as both:
                turn = Turn()
                both.create_task(self._to(to_server, reader, turn))
                both.create_task(self._from(from_server, writer, turn))
        except* OSError:
            pass
        finally:
            to_server.close()

    async def _refused(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            if self.mood is Mood.HANGS:
                await asyncio.sleep(3600)
            size = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
            if size:
                await reader.readexactly(int(size[1]))
            body = b"<?xml version='1.0'?><Error><Code>SlowDown</Code><Message>Reduce your request rate.</Message></Error>"
            answer = b"HTTP/1.1 503 Slow Down\r\nContent-Type: application/xml\r\nContent-Length: %d\r\n\r\n"
            writer.write(answer % len(body) + (b"" if head.startswith(b"HEAD") else body))

    async def _to(
        self, server: asyncio.StreamWriter, reader: asyncio.StreamReader, turn: Turn
    ) -> None:
        while data := await reader.read(_PIECE_BYTES):
            if turn.is_new_request:
                turn.is_new_request = False
                await asyncio.sleep(self.delay_s)
            server.write(data)
            await server.drain()
        server.write_eof()

    async def _from(
        self, server: asyncio.StreamReader, writer: asyncio.StreamWriter, turn: Turn
    ) -> None:
        while data := await server.read(_PIECE_BYTES):
            turn.is_new_request = True
            writer.write(data)
            await writer.drain()
        writer.write_eof()


def versitygw() -> Path:
    """Return the server, built if it is not there.

    Raises:
        GoMissingError: there is no Go.
    """
    folder = cache_folder("go") / f"versitygw-{_VERSION}"
    program = folder / "versitygw"
    with only_one_process(folder.with_suffix(".lock")):
        if not program.exists():
            go = shutil.which("go")
            if go is None:
                raise GoMissingError("an S3 server is built by Go, which is missing")
            environment = {**os.environ, "GOBIN": str(folder), "GOFLAGS": ""}
            subprocess.run([go, "install", f"{_MODULE}@{_VERSION}"], env=environment, check=True)  # noqa: S603 - a fixed program
    return program


@contextmanager
def object_store(folder: Path) -> Iterator[ObjectStore]:
    """Run a store with an empty bucket for the time of the block; its files are in the folder.

    Raises:
        GoMissingError: there is no Go, and the server was not built before.
    """
    program, [port] = versitygw(), free_ports(1)
    (folder / "buckets" / BUCKET).mkdir(parents=True)
    (folder / "access.log").touch()
    options = ["--port", f"127.0.0.1:{port}", "--quiet", "--keep-alive"]
    options += ["--access-log", str(folder / "access.log")]
    variables = {"ROOT_ACCESS_KEY": ACCESS_KEY, "ROOT_SECRET_KEY": SECRET_KEY}
    with (folder / "server.log").open("wb") as log:
        server = subprocess.Popen(  # noqa: S603 - a fixed program
            [program, *options, "posix", str(folder / "buckets")],
            env=os.environ | variables,
            stdout=log,
            stderr=log,
        )
    proxy = Proxy(port)
    try:
        until(lambda: _answers(port), seconds=_START_S, awaited="the S3 server")
        yield ObjectStore(folder, proxy)
    finally:
        proxy.close()
        server.terminate()
        server.wait()


@contextmanager
def environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Let this process, and those that it starts, have the variables for the time of the block."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def in_mood(store: ObjectStore, mood: Mood) -> Iterator[None]:
    """For the time of the block."""
    store.proxy.set_mood(mood)
    try:
        yield
    finally:
        store.proxy.set_mood(Mood.WELL)


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
