"""Broker that outlives the command that started it: at most one for each user."""

from __future__ import annotations

import fcntl
from contextlib import suppress
from pathlib import Path
from shutil import rmtree

from msgspec import DecodeError, Struct, json
from psutil import NoSuchProcess, Process, TimeoutExpired

from group_coordinator.local.broker import BrokerFiles, EmbeddedBroker, free_ports, is_free
from group_coordinator.local.folders import cache_folder, only_one_process

_USUAL_PORT = 9092
_STOP_TIMEOUT_SECONDS = 10


class Daemon(Struct, frozen=True):
    """Broker that a command started, and that no command has stopped yet."""

    pid: int
    bootstrap_servers: str
    folder: str
    keeps_data: bool


class AlreadyRunsError(RuntimeError):
    """A broker of this user already runs."""

    def __init__(self, daemon: Daemon) -> None:
        super().__init__(f"A broker already runs at {daemon.bootstrap_servers}")


class DamagedRecordError(RuntimeError):
    """The record of a running broker cannot be read, so its state is unknown."""


def start(data_dir: Path | None, port: int | None) -> Daemon:
    """Start the broker, at Kafka's usual port or a free one; without a folder its topics are removed when it stops.

    Raises:
        AlreadyRunsError: a broker already runs.
        DamagedRecordError: as for `find`.
        BrokerError: the broker does not start.
    """
    with only_one_process(_run_folder() / ".lock"):
        already = find()
        if already is not None:
            raise AlreadyRunsError(already)
        folder = data_dir or _fresh_folder()
        broker = EmbeddedBroker(folder, port or _usual_or_free_port())
        broker.start()
        # The record is written after the start, so that it never names a broker that failed.
        broker.detach()
        daemon = Daemon(
            pid=broker.pid,
            bootstrap_servers=broker.bootstrap_servers,
            folder=str(folder.resolve()),
            keeps_data=data_dir is not None,
        )
        _record().write_bytes(json.encode(daemon))
        return daemon


def stop() -> Daemon | None:
    """Stop the running broker; None if there is none. Raises DamagedRecordError."""
    with only_one_process(_run_folder() / ".lock"):
        daemon = find()
        if daemon is not None:
            _end(daemon)
            if not daemon.keeps_data:
                rmtree(daemon.folder, ignore_errors=True)
        return daemon


def find() -> Daemon | None:
    """Return the running broker; None if there is none. Raises DamagedRecordError if the record is empty or damaged."""
    try:
        daemon = json.decode(_record().read_bytes(), type=Daemon)
    except FileNotFoundError:
        return None
    except DecodeError as error:
        raise DamagedRecordError(
            f"{_record()} is damaged ({error}): stop the broker if it still runs, and delete the file"
        ) from error
    return daemon if _is_alive(daemon) else None


def _run_folder() -> Path:
    return cache_folder("run")


def _record() -> Path:
    return _run_folder() / "broker.json"


def _fresh_folder() -> Path:
    folder = _run_folder() / "broker"
    # Data of a killed broker is useless without its record.
    if folder.exists():
        rmtree(folder)
    return folder


def _usual_or_free_port() -> int:
    return _USUAL_PORT if is_free(_USUAL_PORT) else free_ports(1)[0]


def _is_alive(daemon: Daemon) -> bool:
    # The process id may belong to another program by now. Only the broker locks the data.
    try:
        with BrokerFiles(Path(daemon.folder)).lock.open("r+b") as lock:
            # Java locks with the same system call.
            fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except (BlockingIOError, PermissionError):
        return True
    return False


def _end(daemon: Daemon) -> None:
    # The broker writes files after the release of its lock, so the end of the process counts.
    with suppress(NoSuchProcess):
        process = Process(daemon.pid)
        process.terminate()
        try:
            process.wait(_STOP_TIMEOUT_SECONDS)
        except TimeoutExpired:
            process.kill()
            process.wait()
