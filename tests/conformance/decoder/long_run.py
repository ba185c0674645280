"""Compare our decoder of __consumer_offsets with Kafka's own reader, in as many messages as there is time for.

    python -m tests.conformance.decoder.long_run [--rounds 100] [--damages 20] [--first-seed 0]

A round is a message of each type and version and a tombstone of each type; each is also read with so many different damages.
Prints how many messages there were and every difference; the exit status is 1 if there is one.
"""

from __future__ import annotations

import sys
from contextlib import closing
from tempfile import TemporaryFile

import click
from rich.console import Console
from rich.progress import track

from tests.conformance.decoder.comparison import KafkaMessages, differences
from tests.conformance.decoder.drawn_messages import MESSAGES_OF_EACH

_say = Console(stderr=True)


@click.command(help=__doc__)
@click.option("--rounds", default=100, show_default=True, help="How many of each message.")
@click.option("--damages", default=20, show_default=True, help="How many of each are damaged.")
@click.option("--first-seed", default=0, show_default=True, help="The seed of the first round.")
def main(rounds: int, damages: int, first_seed: int) -> None:
    """Compare, then print the counts."""
    found = 0
    seeds = range(first_seed, first_seed + rounds)
    with TemporaryFile() as log, closing(KafkaMessages(log)) as kafka:
        for seed in track(seeds, "rounds", console=_say):
            for difference in differences(seed, kafka, damages):
                _say.print(difference, markup=False)
                found += 1
    whole = rounds * MESSAGES_OF_EACH
    click.echo(f"{whole:,} messages, {whole * damages:,} damaged ones, {found} different")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
