"""Does the job, from its wheel, run on each PySpark that it says it runs on, and refuse another?

    python -m tests.sparks [--only VERSION]... [--folder FOLDER] [--prepare]

Each PySpark gets a virtual environment with the wheel, which takes a minute and a gigabyte. Prints a table, then the same
as JSON on one line. The status is 1 if anything was lost, doubled or in any way wrong.
"""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from tests.cluster.wheel import built_wheel
from tests.sparks.environment import made
from tests.sparks.trial import Trial, as_json, fetch_jars, tried

VERSIONS = ("3.5.9", "4.0.5", "4.1.4", "4.2.0", "4.2.1", "4.3.0")
_say = Console(stderr=True).print


@click.command(help=__doc__)
@click.option("--only", multiple=True, metavar="VERSION", help="Only this PySpark. Repeatable.")
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False, resolve_path=True),
    help="Where environments are made and found again; a temporary folder by default.",
)
@click.option("--prepare", is_flag=True, help="Make the environments, fetch the jars, and end.")
def main(only: tuple[str, ...], folder: Path | None, prepare: bool) -> None:  # noqa: FBT001
    """Try what is asked for."""
    trials = []
    with ExitStack() as resources:
        scratch = Path(resources.enter_context(TemporaryDirectory(prefix="sparks-")))
        wheel = built_wheel(scratch)
        environments = folder or scratch
        environments.mkdir(parents=True, exist_ok=True)
        for trial in map(Trial.of, only or VERSIONS):
            _say(f"PySpark {trial.version} ...")
            environment = made(environments, trial.version, trial.delta_package, wheel)
            if trial.is_known:
                fetch_jars(environment)
            trials.append(trial if prepare else tried(trial, environment))
    if not prepare:
        report(trials)
    sys.exit(1 if any(trial.problems for trial in trials) else 0)


def report(trials: list[Trial]) -> None:
    table = Table("PySpark", "connector", "token provider", "Delta", "ran", "exchange", "verdict")
    for trial in trials:
        jars = (trial.connector, trial.token_provider, trial.delta)
        exchange = str(trial.figures.get("exchange", ""))
        style = "bold red" if trial.problems else None
        ran = ", ".join(trial.ran)
        table.add_row(trial.version, *jars, ran, exchange, Text(trial.verdict), style=style)
    Console().print(table)
    click.echo(as_json(trials))


if __name__ == "__main__":
    main()
