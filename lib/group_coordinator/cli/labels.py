"""`group-coordinator labels`: owners and objectives of groups from a CSV file; its options, and the checks of the file."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import click

from group_coordinator.cli.local_sessions import local_sessions
from group_coordinator.cli.shared_options import (
    LAST_INT32,
    Function,
    settings_options,
    whole_number,
    with_options,
)
from group_coordinator.clients.errors import ClientError
from group_coordinator.clients.sql_tables import rows
from group_coordinator.driver.tables import replace_labels
from group_coordinator.settings import JobSettings, load
from group_coordinator.tables.group_labels import GroupLabels
from group_coordinator.tables.views.labels import MOST_STARS

_COLUMNS = GroupLabels._fields


class LabelsOfFile(NamedTuple):
    """Settings of the tables, and the labels that replace those of the cluster."""

    job: JobSettings
    labels: Sequence[GroupLabels]


def label_options(function: Function) -> Function:
    """Add all options of the command: the keyword arguments of `labels_of_file`."""
    options = (
        click.option(
            "--input",
            "file",
            required=True,
            type=click.Path(exists=True, dir_okay=False, path_type=Path),
            metavar="FILE",
            help=f"A CSV file with the columns {','.join(_COLUMNS)}.",
        ),
        click.option(
            "--cluster", metavar="NAME", help="The cluster's name in the tables. [cluster.id]"
        ),
        click.option(
            "--tables",
            metavar="ROOT",
            help="The folder of the tables, or catalog.schema. [tables.root]",
        ),
        settings_options,
    )
    return with_options(function, options)


def labels_of_file(
    *,
    file: Path,
    cluster: str | None,
    tables: str | None,
    config: Path | None,
    overrides: tuple[str, ...],
) -> LabelsOfFile:
    given = {"cluster.id": cluster, "tables.root": tables}
    named = [f"{key}={value}" for key, value in given.items() if value is not None]
    job = load(config, [*overrides, *named]).job
    return LabelsOfFile(job, read_labels(file))


def said(replaced: LabelsOfFile) -> str:
    return f"cluster {replaced.job.cluster_id}: {len(replaced.labels)} patterns in group_labels"


def read_labels(file: Path) -> list[GroupLabels]:
    """Labels of a file. Raises ClickException, with file, line, column, value and remedy."""
    try:
        # Spreadsheets write a byte order mark before the text.
        text = file.read_bytes().decode("utf-8-sig")
        lines = csv.reader(StringIO(text, newline=""), strict=True, skipinitialspace=True)
        lined = [(f"{file}:{lines.line_num}", [*map(str.strip, row)]) for row in lines if any(row)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise click.ClickException(f"{file}: {error}: give a CSV file in UTF-8") from error
    if not lined:
        raise click.ClickException(f"{file} is empty: begin it with the line {','.join(_COLUMNS)}")
    (place, header), *rest = lined
    _check_header(place, header)
    return [*_labels(header, rest)]


def _check_header(place: str, header: Sequence[str]) -> None:
    for name in header:
        if name not in _COLUMNS:
            raise click.ClickException(
                f"{place}: {name!r} is not a column: the first line has some of the names {','.join(_COLUMNS)}, "
                "with commas between them"
            )
        if header.count(name) > 1:
            raise click.ClickException(f"{place}: the column {name} is there twice: remove one")
    if "pattern" not in header:
        raise click.ClickException(f"{place}: the column pattern is missing: add it")


def _labels(header: Sequence[str], rows: Sequence[tuple[str, list[str]]]) -> Iterator[GroupLabels]:
    places: dict[str, str] = {}
    for place, cells in rows:
        if len(cells) != len(header):
            raise click.ClickException(
                f"{place}: {len(cells)} cells, but {len(header)} columns: put a cell with a comma between quotes, and leave a "
                "cell empty if there is no value"
            )
        row = dict.fromkeys(_COLUMNS, "") | dict(zip(header, cells, strict=True))
        pattern = _pattern(place, row["pattern"])
        first = places.setdefault(pattern, place)
        if first != place:
            raise click.ClickException(
                f"{place}: pattern = {pattern!r} is in {first} too: remove one of the lines"
            )
        yield GroupLabels(
            pattern,
            row["owner"] or None,
            row["tier"] or None,
            _objective_seconds(place, row["objective_seconds"]),
        )


def _pattern(place: str, text: str) -> str:
    if not text:
        raise click.ClickException(
            f"{place}: pattern is empty: give a group id, or * for all groups"
        )
    if text.count("*") > MOST_STARS:
        raise click.ClickException(
            f"{place}: pattern = {text!r} has more than {MOST_STARS} stars: write several patterns"
        )
    return text


def _objective_seconds(place: str, text: str) -> int | None:
    if not text:
        return None
    number = whole_number(text, LAST_INT32)
    if not number:
        raise click.ClickException(
            f"{place}: objective_seconds = {text!r} is not a whole number from 1 to {LAST_INT32}: correct it, or leave "
            "it empty for no objective"
        )
    return number


@click.command()
@label_options
def command(**given: Any) -> None:
    """Replace the owners and objectives of a cluster's groups by those of a file.

    Each line of the file has a pattern of group ids, in which * stands for any characters. The most specific matching
    pattern counts. An error in the file leaves the table as it was, and readers see all new labels or none.

    Spark starts only for tables in a catalog. The views group_owners, group_status and objectives have the labels.

    \b
    Examples:
      group-coordinator labels --input labels.csv --cluster eu-1
      group-coordinator sql "SELECT owner, count(*) FROM group_status GROUP BY owner"

    \b
    pattern,owner,tier,objective_seconds
    payments-*,payments,gold,60
    *-test,,,
    *,platform,,3600
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    wanted = labels_of_file(**given)
    with local_sessions() as start:
        replace_labels(*wanted, partial(start, wanted.job))
    click.echo(said(wanted))
    _warn_of_unknown_cluster(wanted.job)


def _warn_of_unknown_cluster(job: JobSettings) -> None:
    try:
        claims = rows(
            job.tables_root, "SELECT DISTINCT cluster_id FROM writers ORDER BY cluster_id"
        )
    except ClientError:
        # Only Spark reads the tables of a catalog.
        return
    known = [row["cluster_id"] for row in claims]
    # Labels may be there before the first run.
    if known and job.cluster_id not in known:
        click.echo(
            f"WARN no job or mirror has written cluster {job.cluster_id}: the tables have {', '.join(known)}; see if --cluster is right",
            err=True,
        )
