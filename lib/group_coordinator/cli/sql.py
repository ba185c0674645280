"""`group-coordinator sql`: queries of the Delta tables, without Spark and without a JVM."""

from __future__ import annotations

from datetime import datetime
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
from group_coordinator.cli.shared_options import as_of_option, settings_options
from group_coordinator.clients import sql_tables
from group_coordinator.clients.as_of_time import AsOfTime
from group_coordinator.clients.errors import ClientError

FORMATS = {"table": print_table, **PLAIN_FORMATS}


class _Asking(click.Command):
    """Command whose query may begin with a comment, which looks like an option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(
            # click takes only texts that begin with a dash for options.
            ctx,
            [f"\n{one}" if one.startswith("-- ") else one for one in args],
        )


@click.command(cls=_Asking)
@click.argument("query")
@as_of_option
@format_option(FORMATS, default="table")
@output_option(FORMATS)
@click.option("--tables", metavar="FOLDER", help="The folder of the tables. [tables.root]")
@settings_options
def command(
    query: str,
    as_of: datetime | None,
    printed: str,
    output: tuple[str, Path] | None,
    tables: str | None,
    config: Path | None,
    overrides: tuple[str, ...],
) -> None:
    """Query the tables and their views.

    \b
    Tables: coordinator_log, groups, members, offsets, group_configs, dead_letters, denials, writers, topic_positions,
    share_group_offsets, topic_ids, group_labels
    Views:
      expiring_soon   the expiration of each offset, or its protection
      lost_offsets    lost offsets, with time and reason, and the next commit
      audit           resets, rewinds and deletions of offsets, with the user and the offset before
      offset_changes  every change of an offset, ordinary commits too
      recent_changes  the same, of the last six hours
      group_timeline  all changes of a group, through all lives of its name
      rebalances      each rebalance of a group, with its duration, cause and moved partitions
      commit_rate     commits and offsets per second, for each minute
      topic_groups    the groups of a topic
      readiness       the groups that can change to the new protocol, and the reasons of the others
      cluster_differences  groups and offsets that differ between two clusters
      lag             the lag of groups in records, and the clients that should read them
      time_lag        the lag in seconds, and its accuracy
      lag_history     both at each sample of the topics' ends
      at_risk         unread records that retention removes, or may remove soon
      partition_status, group_status  the progress of groups: OK, STOP, LOSS and others
      group_owners    the owner, tier and objective of groups
      objectives      the part of each day in which groups were within their objectives
      stale_topics    topics with offsets that no group reads any more, or that are deleted

    The SQL is DataFusion's, which resembles PostgreSQL's. SHOW TABLES and DESCRIBE offsets list tables and columns.
    jobs/reference has every column, and an example for each view.

    --as-of works for all of them, and for any time since the first record: later rows are left out, and groups, members,
    offsets and group_configs are computed from coordinator_log. That takes longer for a longer log. Forecasts (expires_at)
    use the present retention, and now() is the present time.

    \b
    Examples:
      group-coordinator sql "SELECT state, count(*) FROM groups GROUP BY state"
      group-coordinator sql "SELECT * FROM lost_offsets WHERE group_id = 'billing'"
      group-coordinator sql "SELECT * FROM expiring_soon WHERE expires_at < now() + INTERVAL '1' DAY"
      group-coordinator sql "SELECT * FROM offsets" --as-of 2024-01-02T03:04:05Z
      group-coordinator sql "SELECT * FROM audit" --output parquet audit.parquet
      group-coordinator sql "SELECT * FROM offsets WHERE expires_at < now()" --format csv
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    check_format_of_file(output)
    loaded = settings.load(config, overrides)
    root = tables or loaded.job.tables_root
    as_of_time = None if as_of is None else AsOfTime(as_of, loaded.coordinator)
    try:
        response = sql_tables.query(root, query, as_of_time)
    except ClientError as error:
        raise click.ClickException(str(error)) from error
    show(response, FORMATS, printed, output)
