"""Does the job lose or double anything when it is killed, stopped, or started twice?

    python -m tests.faults [--only NAME]... [--store disk|s3] [--kills 30] [--backlog 1000000]

Every fault hits the real command in a process of its own, which reads from a real broker. What it leaves behind after the
last restart is compared with what an undisturbed run of the same events leaves: the state of every group byte for byte,
the log in its order, all tables, and the responses without repeats. Where events keep flowing there is no such run: the
outcome is compared with what the state machine, without Spark, says to the events that were sent.

With --store s3 tables and checkpoints are on a real server of S3, and the kills at the steps of a batch are what is played.

Prints a table, then the same as JSON on one line. The status is 1 if anything was lost, doubled or in any way wrong.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import click
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from group_coordinator.local.broker import EmbeddedBroker
from tests.faults.catch_up import catch_up
from tests.faults.changed_settings import settings_changed
from tests.faults.kills import driver_killed, worker_killed
from tests.faults.members_away import members_outlive_an_outage
from tests.faults.mirror_kills import mirror_killed
from tests.faults.outages import broker_away, disk_full
from tests.faults.result import Result
from tests.faults.runs import second_job, sigterm
from tests.faults.scene import Scene, open_scene
from tests.faults.schedule import drain_every_minute
from tests.faults.soak import soak
from tests.faults.steps import STEPS, WORKER_STEP
from tests.faults.wrong_clock import clock_ahead
from tests.support.stores import STORES

_say = Console(stderr=True)

_AWAY_S = 60
_MINUTES = 10

Inject = Callable[[Scene], Result]


def faults(kills: int, seed: int, backlog: int) -> dict[str, Inject]:
    """All faults by name, in the order in which they are tried."""
    steps = [step for step in STEPS if step != WORKER_STEP]
    killed: dict[str, Inject] = {
        f"kill-{step}": partial(driver_killed, name=f"kill-{step}", steps=[step]) for step in steps
    }
    in_a_row = "kill-again-and-again"
    limit = f"max.offsets.per.trigger={backlog // 10}"
    return {
        **killed,
        in_a_row: partial(driver_killed, name=in_a_row, steps=steps),
        "kill-worker": worker_killed,
        "kill-mirror": mirror_killed,
        "second-job": second_job,
        "sigterm": sigterm,
        "broker-away": partial(broker_away, away_s=_AWAY_S),
        "members-away": partial(members_outlive_an_outage, away_s=_AWAY_S),
        "changed-settings": settings_changed,
        "clock-ahead": clock_ahead,
        "disk-full": disk_full,
        "drain-every-minute": partial(drain_every_minute, minutes=_MINUTES),
        "catch-up": lambda scene: catch_up(scene, "catch-up", backlog),
        "catch-up-limited": lambda scene: catch_up(scene, "catch-up-limited", backlog, limit),
        "soak": partial(soak, kills=kills, seed=seed, say=_say.print),
    }


@click.command(help=__doc__)
@click.option("--only", multiple=True, metavar="NAME", help="Only this fault. Repeatable.")
@click.option("--list", "list_only", is_flag=True, help="Name the faults, and end.")
@click.option(
    "--store", type=click.Choice(["disk", "s3"]), default="disk", help="Where the runs write."
)
@click.option("--kills", default=30, show_default=True, help="How many kills the soak has.")
@click.option("--seed", default=0, show_default=True, help="Of the moments of the soak's kills.")
@click.option("--backlog", default=1_000_000, show_default=True, help="Events to catch up with.")
def main(
    only: tuple[str, ...],
    list_only: bool,  # noqa: FBT001
    store: str,
    kills: int,
    seed: int,
    backlog: int,
) -> None:
    """Inject what is asked for."""
    known = faults(kills, seed, backlog)
    if store != "disk":
        known = {name: inject for name, inject in known.items() if name in on_every_store()}
    unknown = [name for name in only if name not in known]
    if unknown:
        raise click.UsageError(f"--only {unknown[0]}: there is no such fault; --list names them")
    if list_only:
        click.echo("\n".join(known))
        return
    results = _inject([known[name] for name in only or known], store)
    report(results)
    sys.exit(1 if any(result.problems for result in results) else 0)


def on_every_store() -> set[str]:
    """The others look at files of a disk."""
    steps = {f"kill-{step}" for step in STEPS if step != WORKER_STEP}
    return {*steps, "kill-again-and-again", "kill-worker"}


def _inject(chosen: Sequence[Inject], store: str) -> list[Result]:
    with ExitStack() as resources:
        folder = Path(resources.enter_context(TemporaryDirectory(prefix="faults-")))
        broker = resources.enter_context(EmbeddedBroker())
        (folder / "store").mkdir()
        opened = resources.enter_context(STORES[store](folder / "store"))
        scene = resources.enter_context(open_scene(folder, broker.bootstrap_servers, opened))
        return [_timed(inject, scene) for inject in chosen]


def _timed(inject: Inject, scene: Scene) -> Result:
    start_s = time.monotonic()
    result = inject(scene)
    result.figures["seconds"] = round(time.monotonic() - start_s)
    _say.print(f"{result.fault}: {result.verdict} ({result.figures})", markup=False)
    return result


def report(results: Sequence[Result]) -> None:
    counts = [Column(name, justify="right") for name in ("runs", "lost", "doubled")]
    table = Table("fault", *counts, "verdict")
    for result in results:
        numbers = (str(number) for number in (result.runs, result.lost, result.doubled))
        style = "bold red" if result.problems else None
        table.add_row(result.fault, *numbers, Text(result.verdict), style=style)
    Console().print(table)
    click.echo(json.dumps([asdict(result) for result in results]))


if __name__ == "__main__":
    main()
