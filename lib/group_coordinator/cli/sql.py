"""`group-coordinator sql`: questions to the Delta tables, answered without Spark and without a JVM."""

from __future__ import annotations

from pathlib import Path

import click

from group_coordinator import settings
from group_coordinator.cli.query_output import FORMATS as PLAIN_FORMATS
from group_coordinator.cli.query_output import format_option
from group_coordinator.cli.query_table import print_table
from group_coordinator.cli.settings_options import settings_options
from group_coordinator.clients import sql_tables
from group_coordinator.clients.errors import ClientError

FORMATS = {"table": print_table, **PLAIN_FORMATS}


@click.command()
@click.argument("query")
@format_option(FORMATS, default="table")
@click.option("--tables", metavar="FOLDER", help="Where the tables are. [tables.root]")
@settings_options
def command(
    query: str, output: str, tables: str | None, config: Path | None, overrides: tuple[str, ...]
) -> None:
    """Ask the tables.

    They are coordinator_log, groups, members, offsets, group_configs, dead_letters, writers and topic_positions.
    The SQL is DataFusion's, much like PostgreSQL's; SHOW TABLES and DESCRIBE offsets tell what there is.

    \b
    Examples:
      group-coordinator sql "SELECT state, count(*) FROM groups GROUP BY state"
      group-coordinator sql "SELECT * FROM coordinator_log WHERE reason = 'offset-expired'"
      group-coordinator sql --format csv "SELECT * FROM offsets WHERE expires_at < now()"
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    root = tables or settings.load(config, overrides).job.tables_root
    try:
        answer = sql_tables.query(root, query)
    except ClientError as error:
        raise click.ClickException(str(error)) from error
    FORMATS[output](answer)
