"""`group-coordinator positions`: samples of the topics' start and end offsets."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from group_coordinator.cli.local_sessions import local_sessions
from group_coordinator.cli.position_options import position_options, sampling
from group_coordinator.driver.error_causes import reported_start_errors
from group_coordinator.driver.positions import sample_positions


@click.command()
@position_options
@reported_start_errors()
def command(**given: Any) -> None:
    """Sample log start, last stable and end offsets of all partitions into topic_positions.

    It sends requests only to the brokers of any cluster, reads no records, and needs no running job. Partitions without
    a leader or a response are reported, and topics without DESCRIBE are left out. The exit status is 1 if nothing could
    be sampled. With --every, a failed round is reported, and the next round tries again.

    Samples older than positions.retention.ms are removed. Spark starts only for tables in a catalog.

    \b
    Examples:
      group-coordinator positions --bootstrap-server localhost:9092 --cluster eu-1 --every 30
      group-coordinator positions --topic orders --topic refunds
      group-coordinator sql "SELECT cluster_id, topic, sampled_at, sum(log_end_offset) AS written
        FROM topic_positions GROUP BY cluster_id, topic, sampled_at ORDER BY cluster_id, topic, sampled_at"
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    wanted = sampling(**given)
    with local_sessions() as start:
        sample_positions(*wanted, partial(start, wanted.job))
