"""Compare our assignors with Kafka's own, in as many lives of groups as there is time for.

    python -m tests.conformance.assignors.long_run [--lives 10000] [--first-seed 0]

One life in ten is that of a group with many members, topics and partitions. Prints how many new assignments there were and
every difference; the exit status is 1 if there is one.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import closing
from tempfile import TemporaryFile

import click
from rich.console import Console
from rich.progress import track
from rich.table import Table

from tests.conformance.assignors.comparison import STEPS, KafkaAssignors, differences
from tests.conformance.assignors.group_lives import SMALL, WIDE, Size

_say = Console(stderr=True)


@click.command(help=__doc__)
@click.option("--lives", default=10_000, show_default=True, help="How many small groups.")
@click.option("--first-seed", default=0, show_default=True, help="The seed of the first.")
def main(lives: int, first_seed: int) -> None:
    """Compare, then print the counts."""
    table = Table(title="Our assignors against Kafka 4.4.0's own")
    for heading in ("groups", "lives", "new assignments", "different"):
        table.add_column(heading, justify="left" if heading == "groups" else "right")
    failed = 0
    with TemporaryFile() as log, closing(KafkaAssignors(log)) as kafka:
        for name, size, count in (("small", SMALL, lives), ("wide", WIDE, lives // 10)):
            seeds = range(first_seed, first_seed + count)
            different = len(list(_different(track(seeds, name, console=_say), size, kafka)))
            table.add_row(name, f"{count:,}", f"{count * STEPS:,}", str(different))
            failed += different
    Console().print(table)
    sys.exit(1 if failed else 0)


def _different(seeds: Iterable[int], size: Size, kafka: KafkaAssignors) -> Iterator[int]:
    for seed in seeds:
        for found in differences(seed, size, kafka):
            _say.print(found, markup=False)
            yield seed


if __name__ == "__main__":
    main()
