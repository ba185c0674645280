"""`group-coordinator what-if`: another retention on the past events; without Spark and without a JVM."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import click

from group_coordinator import settings
from group_coordinator.cli.query_output import FORMATS as PLAIN_FORMATS
from group_coordinator.cli.query_output import (
    check_format_of_file,
    format_option,
    output_option,
    print_table,
    show,
)
from group_coordinator.cli.shared_options import duration_ms_of, settings_options, time_of
from group_coordinator.clients.as_of_time import AsOfTime
from group_coordinator.clients.errors import ClientError
from group_coordinator.clients.what_if import what_if

FORMATS = {"table": print_table, **PLAIN_FORMATS}


@click.command()
@click.option(
    "--retention",
    "retention_ms",
    type=duration_ms_of,
    metavar="DURATION",
    required=True,
    help="Instead of offsets.retention.minutes: 500ms, 30s, 90m, 12h, 7d, 2w.",
)
@click.option(
    "--as-of", type=time_of, metavar="TIME", help="The end of the examined time.  [default: now]"
)
@click.option(
    "--group", "groups", multiple=True, metavar="GROUP", help="Only this group. Repeatable."
)
@format_option(FORMATS, default="table")
@output_option(FORMATS)
@click.option("--tables", metavar="FOLDER", help="The folder of the tables. [tables.root]")
@settings_options
def command(
    retention_ms: int,
    as_of: datetime | None,
    groups: tuple[str, ...],
    printed: str,
    output: tuple[str, Path] | None,
    tables: str | None,
    config: Path | None,
    overrides: tuple[str, ...],
) -> None:
    """Show which offsets another retention would have removed, and when.

    Kafka's rules (KIP-211) are applied to the whole log again, with the other retention. Subscriptions, commits and open
    transactions protect offsets as they did. Offsets that the former retention removed stay until the other retention
    removes them. A group's own offsets.retention.ms and a retention in a commit still come first. One row per offset:

    \b
      removed_at          the time of its removal by the other retention
      committed_again_at  the group's next commit of the partition: until then the group would have had no offset;
                          empty: no later commit
      lost_in_fact_at     the time before that commit at which the offset was lost in fact; empty: it was not lost

    \b
    Examples:
      group-coordinator what-if --retention 1d
      group-coordinator what-if --retention 2w --as-of 2024-01-02T03:04:05Z --group billing
      group-coordinator what-if --retention 12h --output csv removed.csv
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    check_format_of_file(output)
    loaded = settings.load(config, overrides)
    end = as_of or datetime.fromtimestamp(time.time_ns() / 1_000_000_000, UTC)
    # The other retention replaces only this setting.
    as_of_time = AsOfTime(end, replace(loaded.coordinator, offsets_retention_ms=retention_ms))
    try:
        response = what_if(tables or loaded.job.tables_root, as_of_time, groups)
    except ClientError as error:
        raise click.ClickException(str(error)) from error
    show(response, FORMATS, printed, output)
