"""`group-coordinator report`: the tables as an HTML page, or served and kept current; without Spark and without a JVM."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click

from group_coordinator import settings
from group_coordinator.cli.shared_options import (
    LONGEST_S,
    LOOPBACK,
    NumberRange,
    address_of,
    reject_given,
    settings_options,
    time_of,
)
from group_coordinator.clients.as_of_time import AsOfTime
from group_coordinator.clients.errors import ClientError
from group_coordinator.driver.signals import stop_on_signals_to_python
from group_coordinator.report.page import Report, ask, content, page
from group_coordinator.report.section import Scope
from group_coordinator.report.watch import Current, Texts, served


@click.command()
@click.option(
    "--cluster", metavar="NAME", help="Only this cluster.  [default: all clusters of the tables]"
)
@click.option(
    "--as-of", type=time_of, metavar="TIME", help="The end of the shown time.  [default: now]"
)
@click.option(
    "--hours",
    type=NumberRange(min=1),
    default=24,
    show_default=True,
    help="The hours before that time.",
)
@click.option(
    "--output",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    metavar="FILE.html",
    default="group-coordinator-report.html",
    show_default=True,
    help="The file of the page; an existing file is replaced.",
)
@click.option(
    "--watch", is_flag=True, help="Serve the page and keep it current, until Ctrl-C or SIGTERM."
)
@click.option(
    "--listen",
    type=address_of,
    metavar="HOST:PORT",
    default=LOOPBACK,
    show_default=True,
    help="The address of --watch. It has no login: everyone who can connect can read the page.",
)
@click.option(
    "--every",
    "every_s",
    type=NumberRange(1, LONGEST_S),
    metavar="SECONDS",
    default=30,
    show_default=True,
    help="The interval at which --watch reads the tables again.",
)
@click.option("--tables", metavar="FOLDER", help="The folder of the tables. [tables.root]")
@settings_options
def command(
    *,
    cluster: str | None,
    as_of: datetime | None,
    hours: int,
    output: Path,
    watch: bool,
    listen: tuple[str, int],
    every_s: int,
    tables: str | None,
    config: Path | None,
    overrides: tuple[str, ...],
) -> None:
    """Show the groups on an HTML page: their status, lag, next expirations, lost offsets, and changes with their users.

    The page is a file of about a megabyte with all its charts. It loads nothing from other places, so it can be mailed
    and archived. Every section ends with the query that returns all its rows.

    Lag needs samples of the topics' ends. A mirror takes them itself; next to a coordinator run
    `group-coordinator positions --every 30`.

    \b
    Examples:
      group-coordinator report
      group-coordinator report --cluster eu-1 --hours 6 --output eu-1.html
      group-coordinator report --as-of 2024-01-02T03:04:05Z
      group-coordinator report --watch
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    _check_combination(watch=watch, as_of=as_of)
    loaded = settings.load(config, overrides)
    root = tables or loaded.job.tables_root

    def report() -> Report:
        # Read again for each page of --watch.
        end = as_of or datetime.fromtimestamp(time.time_ns() / 1_000_000_000, UTC)
        as_of_time = None if as_of is None else AsOfTime(as_of, loaded.coordinator)
        return ask(root, Scope(_begin(end, hours), end, cluster), as_of_time)

    try:
        if watch:
            _watch(report, listen, every_s)
        else:
            _write(page(report()), output)
    except ClientError as error:
        raise click.ClickException(str(error)) from error


def _check_combination(*, watch: bool, as_of: datetime | None) -> None:
    if watch and as_of is not None:
        raise click.UsageError(
            "--watch shows the present, --as-of an earlier time: give only one of them"
        )
    if watch:
        reject_given(
            "output", why="names a file, and --watch writes no file: give only one of them"
        )
    else:
        reject_given("listen", "every_s", why="has no effect without --watch")


def _begin(end: datetime, hours: int) -> datetime:
    try:
        return end - timedelta(hours=hours)
    except OverflowError as error:
        raise click.BadParameter(
            f"{hours} hours before {end.date()} is before year 1: give fewer hours",
            param_hint="'--hours'",
        ) from error


def _write(text: str, output: Path) -> None:
    try:
        # The page is complete before the file is opened.
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise click.FileError(str(output), error.strerror) from error
    click.echo(f"Written: {output}")


def _watch(report: Callable[[], Report], listen: tuple[str, int], every_s: int) -> None:
    def texts() -> Texts:
        found = report()
        return Texts(page(found, every_s), content(found))

    with stop_on_signals_to_python() as stop:
        current = Current(texts)
        try:
            with served(current, *listen) as address:
                click.echo(
                    f"{address} shows the groups, and is updated every {every_s} s. Ctrl-C ends it."
                )
                while not stop.wait(every_s):
                    _renew(current)
        except OSError as error:
            raise click.ClickException(f"{':'.join(map(str, listen))}: {error.strerror}") from error


def _renew(current: Current) -> None:
    # The tables may be unreachable for a while: the page shows the error, and the next round tries again.
    try:
        current.renew()
    except ClientError as error:
        current.trouble = str(error)
        click.echo(f"the page was not updated: {error}", err=True)
