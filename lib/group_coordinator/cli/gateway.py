"""`group-coordinator gateway`: the proxy for Kafka's own clients, whose groups the job coordinates.

It is also started as a process next to a run of the job on the same machine.
"""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event

import click

from group_coordinator import settings
from group_coordinator.cli.client_properties.options import client_options, connection_of
from group_coordinator.cli.shared_options import (
    bootstrap_server_option,
    command_config_option,
    log_level_option,
    settings_options,
)
from group_coordinator.driver.errors import StartUpError
from group_coordinator.gateway.groups.group_apis import groups_by_job
from group_coordinator.gateway.run import run_gateway
from group_coordinator.local.child_process import Watchdog
from group_coordinator.local.jars import python_module
from group_coordinator.observability.logs import level


@click.command()
@bootstrap_server_option("The Kafka cluster, with the job's two topics. [bootstrap.servers]")
@click.option(
    "--listen",
    metavar="HOST:PORT",
    help="The address for the first connection of clients. [gateway.listen]",
)
@click.option(
    "--advertise",
    metavar="HOST",
    help="The host that clients connect to, if it is not the host of --listen. [gateway.advertised.host]",
)
@log_level_option
@command_config_option
@settings_options
def command(
    *,
    bootstrap_server: str | None,
    listen: str | None,
    advertise: str | None,
    command_config: Path | None,
    config: Path | None,
    overrides: tuple[str, ...],
) -> None:
    """Run a proxy for Kafka's clients: the job coordinates their groups, the brokers do everything else.

    Clients change only their bootstrap.servers. All their connections go through the gateway, also for data. Each broker
    has a port of the gateway, node n the port of --listen + 1 + n, and clients must reach these ports. Any port serves
    any group. The job must run (`group-coordinator run`): a response about a group takes as long as the job, any other
    response as long as the broker.

    The gateway keeps no state that must survive. Several gateways can serve the same groups, and after a restart clients
    repeat their pending requests. But gateways that advertise different hosts must not share clients. Brokers see the
    gateway's address in place of the clients'.

    If brokers require a login, clients log in through the gateway, each as its own user, whose rights hold for groups
    too; --command-config is the gateway's own login. TLS for clients: gateway.ssl.keystore.location. Only the users of
    the gateway and of the job reach the job's two topics through it.

    gateway.health.listen serves /live, /ready, and /metrics for Prometheus. The gateway runs until Ctrl-C or SIGTERM:
    then it reads no more requests, and pending requests have 5 seconds. Members in a pending rebalance join again at
    another gateway.

    \b
    Examples:
      group-coordinator gateway --bootstrap-server localhost:9092
      kafka-console-consumer --bootstrap-server localhost:19092 --topic orders --group billing
      kafka-consumer-groups --bootstrap-server localhost:19092 --describe --all-groups

    \b
    For clients on other machines:
      group-coordinator gateway --listen 0.0.0.0:19092 --advertise gateway.example.com \\
          --set gateway.ssl.keystore.location=gateway.pem
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    given = {
        "bootstrap.servers": bootstrap_server,
        "gateway.listen": listen,
        "gateway.advertised.host": advertise,
    }
    # Options override the file and --set.
    from_options = [f"{key}={value}" for key, value in given.items() if value is not None]
    found = settings.load(config, [*overrides, *from_options])
    job, given = found.job, client_options(command_config)
    connection = connection_of(job.bootstrap_servers, job.security, given, command_config)
    run_gateway(job, connection, groups_by_job(found, connection))


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
    """Run the gateway until either event is set, then let it drain. Raises StartUpError: it ended by itself.

    With `stop` it drains while the job ends its last batch, whose responses still leave.
    """
    with _running(command) as process:
        while not (stop.is_set() or ended.wait(_LOOK_S)):
            if process.poll() is not None:
                raise StartUpError(
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
