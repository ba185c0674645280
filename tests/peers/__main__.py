"""Do the suites of other projects pass through the gateway?

    python -m tests.peers [--suite NAME]... [--direct | --through] [--job in-process | spark]

Each suite runs at a real broker, then at a gateway before one. The gateway's job is the state machine in this process,
which answers after 0.5 to 1.2 s, or the real one on Spark. Prints a table. The status is 1 if a test fails through the gateway that passes at the
broker and has no explanation, or if a suite cannot be had.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial

import click
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from tests.peers import stand
from tests.peers.report import Ran, is_wrong, rows
from tests.peers.spark_job import gateway_of_spark_job
from tests.peers.suite import Suite
from tests.peers.suites.aiokafka import AIOKAFKA
from tests.peers.suites.confluent import CONFLUENT
from tests.peers.suites.franz_go import FRANZ_GO, FRANZ_GO_CHAOS
from tests.peers.suites.go_clients import KAFKA_GO, SARAMA
from tests.peers.suites.kafka_python import KAFKA_PYTHON
from tests.peers.suites.kafka_tools import KAFKA_TOOLS
from tests.peers.suites.librdkafka import LIBRDKAFKA_CLASSIC, LIBRDKAFKA_CONSUMER
from tests.peers.trial import At, Gateway, Places, fresh_broker_and, try_suite

SUITES = (
    KAFKA_TOOLS,
    KAFKA_PYTHON,
    FRANZ_GO,
    FRANZ_GO_CHAOS,
    LIBRDKAFKA_CLASSIC,
    LIBRDKAFKA_CONSUMER,
    CONFLUENT,
    AIOKAFKA,
    SARAMA,
    KAFKA_GO,
)
_say = Console(stderr=True)


@click.command(help=__doc__)
@click.option("--suite", "names", multiple=True, metavar="NAME", help="Only this one. Repeatable.")
@click.option("--list", "list_only", is_flag=True, help="Name the suites, and end.")
@click.option("--direct", "where", flag_value="direct", help="Only at the broker.")
@click.option("--through", "where", flag_value="through", help="Only through the gateway.")
@click.option(
    "--job",
    type=click.Choice(["in-process", "spark"]),
    default="in-process",
    show_default=True,
    help="Who answers behind the gateway.",
)
@click.option(
    "--delay-ms",
    nargs=2,
    default=(500, 1200),
    show_default=True,
    help="Of the answers of the job in this process.",
)
@click.option("--bootstrap-server", help="A gateway that runs, in the place of our own.")
def main(
    names: tuple[str, ...],
    list_only: bool,  # noqa: FBT001
    where: str | None,
    job: str,
    delay_ms: tuple[int, int],
    bootstrap_server: str | None,
) -> None:
    """Run what is asked for."""
    known = {suite.name: suite for suite in SUITES}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise click.UsageError(f"--suite {unknown[0]}: there is no such suite; --list names them")
    if list_only:
        click.echo("\n".join(known))
        return
    gateway = gateway_of_spark_job if job == "spark" else _in_process(delay_ms)
    places = _places(where, bootstrap_server, fresh_broker_and(gateway))
    ran = [_timed(known[name], places) for name in names or known]
    _print(ran)
    sys.exit(1 if any(map(is_wrong, ran)) else 0)


def _in_process(delay_ms: tuple[int, int]) -> Gateway:
    shortest_ms, longest_ms = delay_ms
    return partial(stand.gateway, delay_s=(shortest_ms / 1000, longest_ms / 1000))


def _places(where: str | None, bootstrap_server: str | None, through: At) -> Places:
    if bootstrap_server is not None:
        return Places(None, lambda _: nullcontext(bootstrap_server))
    return Places(
        stand.broker if where != "through" else None, through if where != "direct" else None
    )


def _timed(suite: Suite, places: Places) -> Ran:
    begun_s = time.monotonic()
    ran = try_suite(suite, places)
    [(name, tests, direct, through, why)] = rows([ran])
    counts = f"{tests} tests, {direct} passed directly, {through} through us"
    seconds = f"{time.monotonic() - begun_s:.0f} s"
    _say.print(f"{name}: {counts}, {seconds}. {why}", markup=False, highlight=False)
    return ran


def _print(ran: Sequence[Ran]) -> None:
    counts = [Column(name, justify="right") for name in ("tests", "directly", "through us")]
    table = Table("suite", *counts, "why not")
    for cells in rows(ran):
        table.add_row(*map(Text, cells))
    Console().print(table)


if __name__ == "__main__":
    main()
