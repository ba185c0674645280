"""Does the job lose or double anything on a cluster, as users run it: from the wheel, by spark-submit?

    python -m tests.cluster [--only NAME]... [--store STORE]

A standalone master and two workers are started on this machine, the wheel is built and installed away from the checkout.
Prints a table, then the same as JSON on one line. The status is 1 if anything was lost, doubled or in any way wrong.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from group_coordinator.local.broker import EmbeddedBroker
from tests.cluster.commands import commands
from tests.cluster.image import executors_of_the_image
from tests.cluster.life import one_life
from tests.cluster.refusals import refused_starts
from tests.cluster.stage import Stage, open_stage
from tests.cluster.strangers import strangers
from tests.cluster.surprises import (
    changed_setting,
    clock_ahead,
    kafka_away,
    store_away,
    store_denies,
    store_hangs,
    store_slow_down,
)
from tests.cluster.takeovers import frozen_driver, restored_checkpoint, two_drivers
from tests.cluster.two_clusters import two_clusters
from tests.cluster.yarn import on_yarn
from tests.faults.__main__ import report
from tests.faults.result import Result
from tests.support.stores import STORES

_ON_S3 = frozenset({"s3", "two-places"})
_STORES_OF = {
    "store-away": _ON_S3 | {"hdfs"},
    "store-slow-down": _ON_S3,
    "store-hangs": _ON_S3,
    "store-denies": _ON_S3,
}
"""Scenes that not every store can play."""
SCENES = {
    "life": one_life,
    "refused-starts": refused_starts,
    "two-drivers": two_drivers,
    "frozen-driver": frozen_driver,
    "restored-checkpoint": restored_checkpoint,
    "changed-setting": changed_setting,
    "clock-ahead": clock_ahead,
    "kafka-away": kafka_away,
    "store-away": store_away,
    "store-slow-down": store_slow_down,
    "store-hangs": store_hangs,
    "store-denies": store_denies,
    "two-clusters": two_clusters,
    "commands": commands,
    "strangers": strangers,
    "image": executors_of_the_image,
    "yarn": on_yarn,
}


@click.command(help=__doc__)
@click.option(
    "--only", multiple=True, type=click.Choice(list(SCENES)), help="Only this. Repeatable."
)
@click.option(
    "--store", type=click.Choice(list(STORES)), default="disk", help="Where the checkpoint is."
)
def main(only: tuple[str, ...], store: str) -> None:
    """Play what is asked for."""
    with ExitStack() as resources:
        folder = Path(resources.enter_context(TemporaryDirectory(prefix="cluster-")))
        broker = resources.enter_context(EmbeddedBroker())
        (folder / "store").mkdir()
        opened = resources.enter_context(STORES[store](folder / "store"))
        stage = resources.enter_context(open_stage(folder, broker, opened))
        played = only or [name for name in SCENES if store in _STORES_OF.get(name, STORES)]
        results = [_played(SCENES[name], stage) for name in played]
    report(results)
    sys.exit(1 if any(result.problems for result in results) else 0)


def _played(scene: Callable[[Stage], Result], stage: Stage) -> Result:
    """Say what came out at once: a later scene may fail, and takes a quarter of an hour."""
    result = scene(stage)
    click.echo(result, err=True)
    return result


if __name__ == "__main__":
    main()
