"""Compare our codec of requests and responses with Kafka's own, in as many messages as there is time for.

    python -m tests.conformance.wire.long_run [--rounds 50] [--damages 10] [--first-seed 0]

A round is a body of each message and version, written and read, and each request with its header; each is also read with so
many different damages. Prints how many there were and every difference; the exit status is 1 if there is one.
"""

from __future__ import annotations

import sys
from contextlib import closing
from tempfile import TemporaryFile

import click
from rich.console import Console
from rich.progress import track

from tests.conformance.wire.comparison import KafkaWire, differences, other_requests
from tests.support.wire_messages import MESSAGES

_say = Console(stderr=True)


@click.command(help=__doc__)
@click.option("--rounds", default=50, show_default=True, help="How many of each message.")
@click.option("--damages", default=10, show_default=True, help="How many of each are damaged.")
@click.option("--first-seed", default=0, show_default=True, help="The seed of the first round.")
def main(rounds: int, damages: int, first_seed: int) -> None:
    """Compare, then print the counts."""
    found = 0
    seeds = range(first_seed, first_seed + rounds)
    with TemporaryFile() as log, closing(KafkaWire(log)) as kafka:
        for seed in track(seeds, "rounds", console=_say):
            for compare in (differences, other_requests):
                for difference in compare(seed, kafka, damages):
                    _say.print(difference, markup=False)
                    found += 1
    whole = rounds * len(MESSAGES)
    click.echo(f"{whole:,} bodies, {whole * damages:,} damaged ones, {found} different")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
