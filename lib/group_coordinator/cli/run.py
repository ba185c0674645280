"""`group-coordinator run`: the coordinator on this machine."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

from group_coordinator.cli.gateway import gateway_command, run_gateway_process
from group_coordinator.cli.local_sessions import local_sessions
from group_coordinator.cli.shared_options import job_options, job_settings, run_options
from group_coordinator.driver.coordinator import RunOptions, checkpoints_held, run_coordinator
from group_coordinator.streaming import compaction_query
from group_coordinator.streaming.checkpoint import layout


@click.command()
@job_options
@run_options
@click.option(
    "--with-gateway",
    is_flag=True,
    help="Also run `group-coordinator gateway`, for Kafka's own clients, with the same settings.",
)
def command(
    config: Path | None,
    overrides: tuple[str, ...],
    bootstrap_server: str | None,
    metrics: str | None,
    with_gateway: bool,
    **options: Any,
) -> None:
    """Run the coordinator: events in, responses and log out.

    It runs until Ctrl-C or SIGTERM, which ends it between two batches: then nothing is done twice. A second run on the
    same checkpoint is an error. On a cluster, submit jobs/run_coordinator.py instead.

    With --drain, consumer groups (KIP-848) get topic metadata when the run begins. Metadata of topics that they
    subscribe to later comes in the next run.

    With --with-gateway, Kafka's own clients connect to gateway.listen while the job runs. The gateway is a separate
    process. If it ends, the run ends too.

    With --metrics, Prometheus reads Kafka's meters, lag and the job's health at that address, and schedulers read if it
    is alive (/healthz) and ready (/readyz). A run with --drain has no such port.

    \b
    Examples:
      group-coordinator run --with-compaction --metrics 127.0.0.1:9404
      group-coordinator run --with-compaction --with-gateway --set gateway.listen=127.0.0.1:29092
      group-coordinator run --drain --with-compaction     # as a scheduled job
    """  # noqa: D301
    if options["drain"] and with_gateway:
        raise click.UsageError(
            "--with-gateway: a run with --drain ends when all events are read, and clients could not use it: "
            "remove one of them"
        )
    settings = job_settings(config, overrides, bootstrap_server, metrics)
    gateway = partial(run_gateway_process, gateway_command(config, overrides, bootstrap_server))
    options["gateway"] = gateway if with_gateway else None
    # Each query has its own checkpoint, which no other process may use.
    queries = [layout.QUERY_NAME] + [compaction_query.QUERY_NAME] * options["with_compaction"]
    with checkpoints_held(settings.job, *queries), local_sessions() as start:
        run_coordinator(settings, partial(start, settings.job), RunOptions(**options))
