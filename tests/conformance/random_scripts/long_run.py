"""Compare ours with Kafka's own classes: every story, and as many random scripts as there is time for.

    python -m tests.conformance.random_scripts.long_run [--only KIND] [--scripts 20000] [--first-seed 0]

Prints how many there were and every difference; the exit status is 1 if there is one. A script that shows a
difference is shown again, with the lines that both were told, by
`python -m tests.conformance.random_scripts.long_run --only KIND --first-seed SEED --scripts 1`: they are lines of `group-coordinator
replay-events`, to be shortened by hand and played again.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from tempfile import TemporaryFile
from typing import Final

import click
from rich.console import Console
from rich.progress import track
from rich.table import Table

from tests.conformance.kafka.coordinators import Oracle, Ours
from tests.conformance.language.comparison import differences_from_kafka
from tests.conformance.language.lines import Story
from tests.conformance.language.transcript import disagreements, play, unexpected
from tests.conformance.random_scripts.classic import RandomClassicScript
from tests.conformance.random_scripts.consumer import RandomConsumerScript
from tests.conformance.random_scripts.restarts import restarted
from tests.conformance.stories import STORIES

_say = Console(stderr=True)
_KINDS: Final[dict[str, Callable[[int], Story]]] = {
    "classic": lambda seed: RandomClassicScript(seed).story(f"random script {seed}"),
    "consumers": lambda seed: RandomConsumerScript(seed).story(f"random script {seed}"),
    "classic, restarts": lambda seed: restarted(_KINDS["classic"](seed), seed),
    "consumers, restarts": lambda seed: restarted(_KINDS["consumers"](seed), seed),
}


@click.command(help=__doc__)
@click.option("--only", type=click.Choice((*_KINDS, "stories")), help="One kind, not all.")
@click.option(
    "--scripts", default=20_000, show_default=True, help="How many random scripts a kind."
)
@click.option("--first-seed", default=0, show_default=True, help="The seed of the first.")
def main(only: str | None, scripts: int, first_seed: int) -> None:
    """Compare, then print the counts."""
    seeds = range(first_seed, first_seed + scripts)
    counts: list[tuple[str, int, int]] = []
    with TemporaryFile() as log, closing(Oracle(log)) as oracle:
        if only in (None, "stories"):
            counts.append(("written stories", len(STORIES), len(list(_different_stories(oracle)))))
        for kind in (kind for kind in _KINDS if only in (None, kind)):
            different = list(_different_scripts(kind, oracle, seeds))
            counts.append((f"random scripts, {kind}", scripts, len(different)))
    table = Table(title="Ours against Kafka 4.4.0's own classes")
    for heading in ("what", "compared", "different"):
        table.add_column(heading, justify="left" if heading == "what" else "right")
    for what, compared, different in counts:
        table.add_row(what, f"{compared:,}", str(different))
    Console().print(table)
    sys.exit(1 if any(different for *_, different in counts) else 0)


def _different_stories(oracle: Oracle) -> Iterator[str]:
    for name, story in track(STORIES.items(), "Stories", console=_say):
        kafka = play(story, oracle)
        found = [*unexpected(story, kafka), *disagreements(story, kafka, play(story, Ours()))]
        if found:
            _say.print(f"{name}\n" + "\n".join(found[:2]), markup=False)
            yield name


def _different_scripts(kind: str, oracle: Oracle, seeds: range) -> Iterator[int]:
    for seed in track(seeds, f"Random scripts, {kind}", console=_say):
        story = _KINDS[kind](seed)
        found = differences_from_kafka(story, oracle)
        if found:
            lines = _lines(story, oracle) if len(seeds) == 1 else []
            _say.print(
                "\n".join([f"random script {seed}, {kind}", *lines, *found[:2]]), markup=False
            )
            yield seed


def _lines(story: Story, oracle: Oracle) -> list[str]:
    """The settings and the lines as Kafka was told them."""
    return [json.dumps({"settings": dict(story.settings)}), *play(story, oracle).said]


if __name__ == "__main__":
    main()
