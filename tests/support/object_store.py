"""A real S3 server on this machine, behind a proxy that makes each request take as long as to a store in its region.

The server is versitygw, which `go install` builds once into the user's cache.
"""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from group_coordinator.local.broker import free_ports
from tests.support.go_programs import go_program
from tests.support.job_process import ROOT
from tests.support.store_proxy import Mood
from tests.support.until import until

BUCKET, ACCESS_KEY, SECRET_KEY, REGION = "coordinator", "tests", "of-the-tests", "us-east-1"
_LINE = re.compile(
    r"\[[^]]+\] \S+ \S+ \S+ s3_(?P<operation>\w+) (?P<key>\S+) \S*?(?:prefix=(?P<prefix>[^& ]*)\S*)? (?P<status>\d+) "
)
_START_S = 20.0


class Request(NamedTuple):
    """A line of the access log; of a LIST the key is the prefix, of what is about many objects "-"."""

    operation: str
    key: str
    status: int


class ObjectStore:
    """One bucket."""

    def __init__(self, folder: Path, proxy: Proxy) -> None:
        self.objects = folder / "buckets"
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
        return [
            Request(m["operation"], unquote(m["prefix"] or m["key"]), int(m["status"]))
            for m in found
            if m
        ]

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


class Proxy:
    """The proxy, in a process of its own: a library that holds Python's lock while it waits for the store would stop a thread."""

    def __init__(self, server_port: int) -> None:
        command = [sys.executable, "-m", "tests.support.store_proxy", str(server_port)]
        self._process = subprocess.Popen(  # noqa: S603 - a fixed program
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
        )
        assert self._process.stdout is not None
        self.port = int(self._process.stdout.readline())

    def close(self) -> None:
        """End it."""
        self._process.terminate()
        self._process.communicate()

    def delay(self, seconds: float) -> None:
        """Of each request's way to the server, from now on."""
        self._say(f"delay {seconds}")

    def set_mood(self, mood: Mood) -> None:
        """From now on; who is connected is hung up on."""
        self._say(f"mood {mood.value}")

    def _say(self, order: str) -> None:
        """Returns when it counts."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{order}\n")
        self._process.stdin.flush()
        self._process.stdout.readline()


@contextmanager
def object_store(folder: Path) -> Iterator[ObjectStore]:
    """Run a store with an empty bucket for the time of the block; its files are in the folder.

    Raises:
        GoMissingError: there is no Go, and the server was not built before.
    """
    program, [port] = go_program("versitygw"), free_ports(1)
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
