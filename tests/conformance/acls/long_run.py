"""Compare our authorizer with Kafka's own, for as many sets of rules as there is time for.

    python -m tests.conformance.acls.long_run [--sets 200000] [--first-seed 0]

Prints every difference and how many questions there were; the exit status is 1 if there is a difference.
"""

from __future__ import annotations

import sys
from contextlib import closing
from tempfile import TemporaryFile

import click
from rich.console import Console
from rich.progress import track

from tests.conformance.acls.comparison import KafkaAuthorizer, differences

_AT_ONCE = 500
_say = Console(stderr=True)


@click.command(help=__doc__)
@click.option("--sets", default=200_000, show_default=True, help="How many sets of rules.")
@click.option("--first-seed", default=0, show_default=True, help="The seed of the first.")
def main(sets: int, first_seed: int) -> None:
    """Compare, then print the count."""
    failed = 0
    with TemporaryFile() as log, closing(KafkaAuthorizer(log)) as kafka:
        starts = range(first_seed, first_seed + sets, _AT_ONCE)
        for start in track(starts, "sets of rules", console=_say):
            for found in differences(range(start, start + _AT_ONCE), kafka):
                _say.print(found, markup=False)
                failed += 1
    Console().print(f"{sets:,} sets of rules, {failed} different answers")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
