"""Process of `group-coordinator gateway` next to a run of the job on the same machine."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event

from group_coordinator.driver.errors import JobRefusedError
from group_coordinator.local.child_process import Watchdog
from group_coordinator.local.java import python_module
from group_coordinator.observability.logs import level

_LOOK_S = 0.1
_DRAIN_TIMEOUT_S = 15.0
"""Longest wait for the end of the process; the gateway gives pending requests 5 s."""


def gateway_command(
    config: Path | None, overrides: Sequence[str], bootstrap_server: str | None
) -> list[str]:
    """Command of a gateway with a job's settings and log level; secrets are in the environment of both."""
    # The main program, not a fork: the job's threads must not be copied.
    command = python_module("group_coordinator.cli.main", "gateway", "--log-level", level())
    if config is not None:
        command += ["--config", str(config)]
    if bootstrap_server is not None:
        command += ["--bootstrap-server", bootstrap_server]
    return [*command, *(word for override in overrides for word in ("--set", override))]


def run_gateway_process(command: Sequence[str], stop: Event, ended: Event) -> None:
    """Run the gateway until either event is set, then let it drain.

    With `stop` it drains while the job ends its last batch, whose responses still leave. Its output goes to this
    program's output.

    Raises:
        JobRefusedError: the gateway ended by itself.
    """
    with _running(command) as process:
        while not (stop.is_set() or ended.wait(_LOOK_S)):
            if process.poll() is not None:
                raise JobRefusedError(
                    f"the gateway {_end_of(process.returncode)}, and a run with --with-gateway ends with it: correct the "
                    "error that the gateway logged, or start `group-coordinator gateway` as a separate process"
                )


@contextmanager
def _running(command: Sequence[str]) -> Iterator[subprocess.Popen[bytes]]:
    # With its own session the gateway does not get the Ctrl-C of this terminal. It gets SIGTERM at the end.
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)  # noqa: S603 - the program that runs
    watchdog = Watchdog(-process.pid)
    try:
        yield process
    finally:
        _drain(process)
        watchdog.dismiss()


def _drain(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(_DRAIN_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _end_of(status: int) -> str:
    if status < 0:
        return f"was ended by {signal.Signals(-status).name}"
    return f"ended with status {status}"
