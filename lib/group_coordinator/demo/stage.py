"""The parts that a show needs at run time: a broker, the job's process, other processes, administrators, and the demo's folder."""

from __future__ import annotations

import os
import shlex
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from http import HTTPStatus
from itertools import count
from pathlib import Path
from shutil import rmtree
from types import FrameType, MappingProxyType
from typing import Any, NamedTuple, Self
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

from kafka import KafkaAdminClient
from msgspec import DecodeError, Struct, json

from group_coordinator import settings
from group_coordinator.clients.admin import descriptions
from group_coordinator.clients.channel import RequestChannel
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.coordinator_topics import create_topics
from group_coordinator.demo.story import Board, DemoOptions
from group_coordinator.local.broker import EmbeddedBroker
from group_coordinator.local.child_process import ChildProcess
from group_coordinator.local.jars import python_module


class DemoFolder:
    """Paths of the files in the folder; `tables`, `report` and `metrics` stay at the end."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.tables = path / "tables"
        self.report = path / "report.html"
        self.metrics = path / "metrics.txt"
        self.checkpoint = path / "checkpoint"
        self.broker = path / "broker"
        self.settings = path / "coordinator.toml"
        self.scratch = path / "scratch"
        """Spark's working directory."""
        self.progress = path / "progress.json"
        """The job's last batch."""

    def output(self, command: str) -> Path:
        return self.path / "output" / f"{command}.txt"

    def make(self) -> None:
        self.output("any").parent.mkdir(parents=True)
        self.scratch.mkdir()

    def write_settings(self, values: Mapping[str, str | int]) -> None:
        """Write the settings that differ from conf/coordinator.toml, and the places of tables and checkpoint."""
        places = {"tables.root": str(self.tables), "checkpoint.location": str(self.checkpoint)}
        # Quoted keys are valid in TOML, whatever dots they have.
        lines = [
            f"{_text(key)} = {_text(value) if isinstance(value, str) else value}"
            for key, value in {**values, **places}.items()
        ]
        self.settings.write_text("\n".join([*lines, ""]), encoding="utf-8")

    def shown(self, path: Path) -> str:
        """Return a path as the user can type it in a shell of the current folder."""
        return shlex.quote(os.path.relpath(path))

    def remove_scaffolding(self) -> None:
        """Remove all files except those that the closing page names."""
        for entry in self.path.iterdir():
            if entry not in (self.tables, self.report, self.metrics):
                _remove(entry)

    def remove(self) -> None:
        _remove(self.path)


def _text(value: str) -> str:
    # JSON's strings are valid in TOML too.
    return json.encode(value).decode()


def _remove(path: Path) -> None:
    if path.is_dir():
        rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_POLL_SECONDS = 0.05


class Interrupted(Exception):  # noqa: N818 - not an error, a wish
    """The demo must end now."""

    def __init__(self, signal_number: int) -> None:
        super().__init__("Interrupted. Nothing runs any more, and nothing is left behind.")
        self.exit_status = 128 + signal_number
        """The exit status of a program that ended by this signal, as shells report it."""


class Interruption:
    """Notes a signal; every wait of the demo checks for it."""

    # A handler that raises could do so between the start of a process and the note that it must be ended.

    def __init__(self) -> None:
        self._signal_number: int | None = None
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        for number in _SIGNALS:
            self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            # A second Ctrl-C must not disturb the closing words.
            signal.signal(number, signal.SIG_IGN if self.is_requested else handler)

    @property
    def is_requested(self) -> bool:
        return self._signal_number is not None

    def check(self) -> None:
        if self._signal_number is not None:
            raise Interrupted(self._signal_number)

    def pause(self, seconds: float) -> None:
        """Sleep; raise Interrupted as soon as the demo must end."""
        deadline = time.monotonic() + seconds
        self.check()
        while (rest := deadline - time.monotonic()) > 0:
            time.sleep(min(rest, _POLL_SECONDS))
            self.check()

    def _note(self, signal_number: int, _: FrameType | None) -> None:
        # Nothing but an assignment: a lock that the interrupted code holds would never be released.
        self._signal_number = self._signal_number or signal_number


_TICK_S = 0.1
_GRACE_S, _IMPATIENT_GRACE_S = 20.0, 3.0
"""Time for a process to finish its work: at the end, and while the user waits for the prompt."""
_JOB_START_TIMEOUT_MS = 180_000
_PAGE_TIMEOUT_S = 2.0
_numbers = count(1)
"""Of the administrators' commands."""


def program(*arguments: str) -> list[str]:
    """Return a command of group-coordinator, run by this Python."""
    return python_module("group_coordinator.cli.main", *arguments)


def typed_name(folder: DemoFolder) -> str:
    """Return the command that the user types for group-coordinator: the script of a checkout, or the installed program."""
    environment = Path(sys.prefix)
    script = environment.parent / "deploy" / "local"
    # A checkout with its own environment: the user types its script.
    if environment.name == ".venv" and script.is_file():
        return folder.shown(script)
    return "group-coordinator"


def page_at(url: str) -> str | None:
    """Return the text of a page of a process; None: there is no response, or not yet (503)."""
    try:
        with urlopen(url, timeout=_PAGE_TIMEOUT_S) as response:  # noqa: S310 - http, our own processes
            text: str = response.read().decode()
            return text
    except HTTPError as error:
        if error.code == HTTPStatus.SERVICE_UNAVAILABLE:
            return None
        raise
    except (URLError, ConnectionError, TimeoutError):
        return None


class Tool(NamedTuple):
    """A command line program, with its text in the story."""

    shown: str
    command: tuple[str, ...]
    ending: tuple[str, ...] = ()
    """Arguments that the story does not show."""


class Administrator:
    """Runs commands of a tool in turn, and adds each with its output to the board."""

    def __init__(self, tool: Tool, folder: DemoFolder, board: Board) -> None:
        self._tool = tool
        self._folder = folder
        self._board = board
        self._waiting: deque[tuple[str, ...]] = deque()
        self._running: tuple[tuple[str, ...], ChildProcess] | None = None

    @property
    def is_idle(self) -> bool:
        return self._running is None and not self._waiting

    def run(self, *arguments: str) -> None:
        self._waiting.append(arguments)

    def tick(self) -> None:
        if self._running is not None:
            arguments, process = self._running
            if process.status is None:
                return
            process.end()
            self._running = None
            lines = [line for line in process.output.splitlines() if line.strip()]
            self._board.add(f"$ {self._tool.shown} {' '.join(arguments)}", tuple(lines))
        if self._waiting:
            arguments = self._waiting.popleft()
            command = [*self._tool.command, *arguments, *self._tool.ending]
            output = self._folder.output(f"command-{next(_numbers)}")
            self._running = arguments, ChildProcess(arguments[0], command, output)

    def close(self) -> None:
        if self._running is not None:
            self._running[1].end()


class _Progress(Struct):
    batch_ms: int


class Stage:
    """The parts of a run, which end with `resources`, the last part first."""

    def __init__(
        self,
        options: DemoOptions,
        folder: DemoFolder,
        board: Board,
        interruption: Interruption,
        resources: ExitStack,
    ) -> None:
        self.options = options
        self.folder = folder
        self.board = board
        self.resources = resources
        self.tasks: list[Callable[[], None]] = []
        """Functions that `tick` calls; they raise the error of a part that gave up, if any."""
        self._interruption = interruption
        self._administrators: list[Administrator] = []

    @property
    def is_idle(self) -> bool:
        return all(administrator.is_idle for administrator in self._administrators)

    def tick(self) -> None:
        """Let commands begin and end, call the tasks, and sleep a tenth of a second.

        Raises:
            Interrupted: the demo must end.
            CommandFailedError: a process ended.
            ClientError: a client gave up.
        """
        for administrator in self._administrators:
            administrator.tick()
        for task in self.tasks:
            task()
        self._interruption.pause(_TICK_S)

    def fetch_jars(self, *wanted: str) -> None:
        """Fetch missing jars, in a process whose output must not disturb the screen: those of the broker and of Spark, or with `tools` those of Kafka's tools."""
        program = python_module("group_coordinator.local.jars", *wanted)
        process = ChildProcess("Step 'jars'", program, self.folder.output("jars"))
        try:
            process.await_success(self._interruption.pause)
        finally:
            process.end()

    def start_broker(self, properties: Mapping[str, str] = MappingProxyType({})) -> str:
        """Return the address of the user's cluster, or else of a broker that is started."""
        if self.options.bootstrap_servers is not None:
            return self.options.bootstrap_servers
        self.board.say("A real Kafka broker starts on this machine.")
        broker = EmbeddedBroker(self.folder.broker, properties=properties)
        broker.start()
        self.resources.callback(broker.stop)
        self._interruption.check()
        return broker.bootstrap_servers

    def start(
        self, name: str, what: str, command: Sequence[str], folder: Path | None = None
    ) -> ChildProcess:
        """Start a process; if it ends before the demo, its error ends the demo."""
        process = ChildProcess(what, command, self.folder.output(name), folder)
        self.resources.callback(lambda: process.end(self._grace_s))
        self.tasks.append(process.check_alive)
        return process

    def start_job(self, principal: str, *options: str) -> tuple[ChildProcess, RequestChannel]:
        """Return the job's process, and a channel to the job, after its first response."""
        chosen = settings.load(self.folder.settings).job
        connection = Connection.of(chosen)
        self.leave_unchanged(connection, [chosen.events_topic, chosen.responses_topic])
        create_topics(connection, chosen)
        files = (str(self.folder.settings), str(self.folder.progress))
        command = python_module("group_coordinator.demo.job_process", *files, *options)
        job = self.start("job", "The job", command, self.folder.scratch)
        channel = self.resources.enter_context(
            RequestChannel(
                connection,
                events_topic=chosen.events_topic,
                responses_topic=chosen.responses_topic,
                request_timeout_ms=chosen.request_timeout_ms,
                principal=principal,
            )
        )
        request = descriptions.describe_group("is the job there?")
        reply = channel.send(request, timeout_ms=_JOB_START_TIMEOUT_MS)
        while not reply.done():
            self.tick()
        reply.result()
        return job, channel

    def batch_s(self) -> float | None:
        try:
            return json.decode(self.folder.progress.read_bytes(), type=_Progress).batch_ms / 1000
        except (FileNotFoundError, DecodeError):
            return None

    def start_sampling(self, topics: Iterable[str]) -> None:
        """Start `group-coordinator positions`: lag needs samples of the topics' ends. The tables must exist."""
        words = [word for topic in topics for word in ("--topic", topic)]
        config = ("--config", str(self.folder.settings))
        command = program("positions", "--every", "5", *config, *words)
        self.start("positions", "The sampling of topics", command)

    def administrator(self, tool: Tool) -> Administrator:
        administrator = Administrator(tool, self.folder, self.board)
        self.resources.callback(administrator.close)
        self._administrators.append(administrator)
        return administrator

    def leave_unchanged(
        self, connection: Connection, topics: Iterable[str], groups: Sequence[str] = ()
    ) -> None:
        """Let the end remove the demo's topics and groups from a cluster of the user, unless all is kept."""

        def clean() -> None:
            with connection.opened(KafkaAdminClient) as admin:
                if groups:
                    admin.delete_groups(list(groups))
                admin.delete_topics(list(topics), raise_errors=False)

        if self.options.bootstrap_servers is not None and not self.options.keep:
            self.resources.callback(clean)

    @property
    def _grace_s(self) -> float:
        return _IMPATIENT_GRACE_S if self._interruption.is_requested else _GRACE_S
