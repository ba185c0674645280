"""`group-coordinator mirror`: the mirror of another cluster's groups, on this machine."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from group_coordinator.cli.local_sessions import local_sessions
from group_coordinator.cli.mirror_options import mirror_options, mirroring
from group_coordinator.driver.coordinator import checkpoints_held
from group_coordinator.driver.mirror.run import run_mirror
from group_coordinator.mirror.query import QUERY_NAME
from group_coordinator.streaming import compaction_query


@click.command()
@mirror_options
def command(**given: Any) -> None:
    """Read a live cluster's __consumer_offsets into the tables, without a change of its clients.

    Every record becomes a row of coordinator_log, exactly once. With --with-compaction, groups, members and offsets are
    kept current too. It reads only committed records: first from the topic's beginning, later from the end of its last
    run. It writes nothing to the cluster. `check --for mirror` lists the rights that its user lacks. Records that
    cannot be decoded are also in dead_letters. The ends of all topics are sampled into topic_positions
    (mirror.positions.interval.ms). Missing tables are created.

    Several clusters share the tables: each has a name and a mirror. The checkpoint is checkpoint.location/mirror-NAME.
    It runs until Ctrl-C or SIGTERM, or, with --drain, until all records that are readable now are read.

    \b
    Examples:
      group-coordinator mirror --bootstrap-server kafka-1:9092 --cluster eu-1 --with-compaction
      group-coordinator mirror --cluster eu-1 --drain --with-compaction     # as a scheduled job
      group-coordinator sql "SELECT group_id, topic, partition, committed_offset FROM offsets"
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    settings, keys, options = mirroring(**given)
    # Each query has its own checkpoint, which no other process may use.
    queries = [QUERY_NAME] + [compaction_query.QUERY_NAME] * options.with_compaction
    with checkpoints_held(settings.job, *queries), local_sessions() as start:
        run_mirror(settings, keys, partial(start, settings.job), options)
