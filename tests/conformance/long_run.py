"""Compare ours with Kafka's own classes: every story, and as many walks as there is time for.

    python -m tests.conformance.long_run [--walks 20000] [--first-seed 0]

Prints how many there were and every difference; the exit status is 1 if there is one. A walk that shows a difference is
shown again by `python -m tests.conformance.long_run --first-seed SEED --walks 1`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing
from tempfile import TemporaryFile

import click
from rich.console import Console
from rich.progress import track
from rich.table import Table

from tests.conformance.comparison import differences_from_kafka
from tests.conformance.scripts import STORIES
from tests.conformance.telling import disagreements, tell, unexpected
from tests.conformance.walks import Walk
from tests.conformance.witness import Oracle, Ours

_say = Console(stderr=True)


@click.command(help=__doc__)
@click.option("--walks", default=20_000, show_default=True, help="How many random scripts.")
@click.option("--first-seed", default=0, show_default=True, help="The seed of the first.")
def main(walks: int, first_seed: int) -> None:
    """Compare, then print the counts."""
    with TemporaryFile() as log, closing(Oracle(log)) as oracle:
        different_stories = list(_different_stories(oracle))
        different_walks = list(_different_walks(oracle, range(first_seed, first_seed + walks)))
    table = Table(title="Ours against Kafka 4.3.1's own classes")
    for heading in ("what", "compared", "different"):
        table.add_column(heading, justify="left" if heading == "what" else "right")
    table.add_row("written stories", f"{len(STORIES):,}", str(len(different_stories)))
    table.add_row("random scripts", f"{walks:,}", str(len(different_walks)))
    Console().print(table)
    sys.exit(1 if different_stories or different_walks else 0)


def _different_stories(oracle: Oracle) -> Iterator[str]:
    for name, story in track(STORIES.items(), "Stories", console=_say):
        kafka = tell(story, oracle)
        found = [*unexpected(story, kafka), *disagreements(story, kafka, tell(story, Ours()))]
        if found:
            _say.print(f"{name}\n" + "\n".join(found[:2]), markup=False)
            yield name


def _different_walks(oracle: Oracle, seeds: range) -> Iterator[int]:
    for seed in track(seeds, "Walks", console=_say):
        found = differences_from_kafka(Walk(seed).story(f"walk {seed}"), oracle)
        if found:
            _say.print(f"walk {seed}\n" + "\n".join(found[:2]), markup=False)
            yield seed


if __name__ == "__main__":
    main()
