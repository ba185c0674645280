"""The broker's Java process: how it starts, how it is watched, how it ends."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from group_coordinator.local.broker_files import BrokerFiles
from group_coordinator.local.jars import broker_jars
from group_coordinator.local.java import java, kafka_options
from group_coordinator.local.watchdog import Watchdog

_START_TIMEOUT_SECONDS = 60
_STOP_TIMEOUT_SECONDS = 10
_POLL_SECONDS = 0.05
_CLUSTER_ID = "GroupCoordinatorLocalA"
_JVM_OPTIONS = (
    *("-Xms64m", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
    *("-XX:-UsePerfData", "-XX:+ExitOnOutOfMemoryError", "-Djava.awt.headless=true"),
)


class BrokerError(RuntimeError):
    """The broker could not start, or died; carries the last lines of its log."""

    def __init__(self, what: str, log_tail: str) -> None:
        super().__init__(f"{what}. The end of its log:\n{log_tail}")


class BrokerProcess:
    """A process of its own session, so that a Ctrl-C meant for us does not reach it; it dies with us all the same.

    Args:
        files: what it lives in.
        temporary_folder: removed when we die before we could; None: everything stays.
        users: passwords by name, made with a new folder.
    """

    def __init__(
        self, files: BrokerFiles, temporary_folder: Path | None, users: Mapping[str, str]
    ) -> None:
        if not files.is_formatted:
            _format(files, users)
        self._files = files
        with files.log.open("wb") as log:
            self._java = subprocess.Popen(  # noqa: S603 - Java's own programs
                _command(files, "kafka.Kafka", str(files.server_properties)),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._watchdog = Watchdog(self._java.pid, temporary_folder)

    @property
    def pid(self) -> int:
        """The process id."""
        return self._java.pid

    def check(self) -> None:
        """Raise BrokerError if the process is not there any more."""
        status = self._java.poll()
        if status is not None:
            raise BrokerError(f"The broker ended with status {status}", self._files.log_tail())

    def await_start(self) -> None:
        """Return when the broker takes requests.

        Raises:
            BrokerError: it ended, or it takes too long.
        """
        deadline = time.monotonic() + _START_TIMEOUT_SECONDS
        while not self._files.says_started:
            self.check()
            if time.monotonic() > deadline:
                raise BrokerError(
                    f"The broker was not up after {_START_TIMEOUT_SECONDS} s",
                    self._files.log_tail(),
                )
            time.sleep(_POLL_SECONDS)

    def end(self) -> None:
        """Stop it in good order, or by force if that takes too long."""
        self._java.terminate()
        try:
            self._java.wait(_STOP_TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            self._java.kill()
            self._java.wait()
        self.detach()

    def detach(self) -> None:
        """Let it live on when we are gone."""
        self._watchdog.dismiss()


def _format(files: BrokerFiles, users: Mapping[str, str]) -> None:
    """Kafka starts in a formatted folder only, and users that are to be there from the start are made with it."""
    given = ("--cluster-id", _CLUSTER_ID, "--config", str(files.server_properties), *_added(users))
    # The tool takes a file for its options: other users can read a command line.
    options = files.folder / "format"
    options.touch(0o600)
    options.write_text("".join(f"{option}\n" for option in given), encoding="utf-8")
    try:
        done = subprocess.run(  # noqa: S603 - Java's own programs
            _command(files, "kafka.tools.StorageTool", "format", f"@{options}"),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
    finally:
        options.unlink()
    if done.returncode != 0:
        raise BrokerError("The broker's folder could not be formatted", done.stdout.strip())


def _added(users: Mapping[str, str]) -> Iterator[str]:
    for name, password in users.items():
        yield from ("--add-scram", f"SCRAM-SHA-512=[name={name},password={password}]")


def _command(files: BrokerFiles, *program: str) -> list[str]:
    class_path = os.pathsep.join(map(str, broker_jars()))
    logging = f"-Dlog4j2.configurationFile={files.log_properties}"
    return [java(), *_JVM_OPTIONS, logging, *kafka_options(), "-cp", class_path, *program]
