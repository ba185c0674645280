"""What does a batch pay for one group that says which topics it needs, beside many groups that have said so?

    python -m tests.benchmarks.topic_subscriptions [--groups 1000,100000]

Each need is kept as in the job, by Spark's file system in a folder of this machine. Prints the milliseconds of one need,
the slowest one too: now and then a file takes over the small ones before it. The last line is JSON.
"""

from __future__ import annotations

import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import click
from pyspark.sql import SparkSession

from group_coordinator import settings
from group_coordinator.driver.tasks.topic_subscriptions import GroupSubscriptions
from group_coordinator.local.folders import scratch_folder
from group_coordinator.local.jars import spark_jars
from group_coordinator.streaming.checkpoint.folder import CheckpointFolder
from group_coordinator.streaming.session import local_session

BATCHES = 200
TOPIC = {"orders": ("AAAAAAAAAAAAAAAAAAAAAQ", 4_611_686_018_427_387_904)}


def need(number: int) -> str:
    """A group says that it needs a topic."""
    return json.dumps({"group_id": f"group-{number}", "names": ["orders"], "regexes": []})


def measure(spark: SparkSession, folder: Path, groups: int) -> dict[str, Any]:
    """All groups have said it and were told; then one more says so in each batch."""
    files = CheckpointFolder(spark, str(folder))
    subscriptions = GroupSubscriptions(files)
    subscriptions.note([need(number) for number in range(groups)])
    subscriptions.received({f"group-{number}": TOPIC for number in range(groups)})
    took_ms = []
    for batch in range(BATCHES):
        begun_s = time.perf_counter()
        subscriptions.note([need(groups + batch)])
        took_ms.append((time.perf_counter() - begun_s) * 1000)
    begun_s = time.perf_counter()
    assert len(GroupSubscriptions(files).take_changed()) == groups + BATCHES
    return {
        "groups": groups,
        "need_ms": round(statistics.median(took_ms), 1),
        "slowest_need_ms": round(max(took_ms), 1),
        "files": len(files.names_in("topics/interests")),
        "read_at_the_start_s": round(time.perf_counter() - begun_s, 2),
    }


@click.command(help=__doc__)
@click.option("--groups", default="1000,100000", help="Numbers of groups, one run each.")
def main(groups: str) -> None:
    """Measure each number of groups in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder, scratch_folder() as scratch:
        spark = local_session(settings.load().job, spark_jars(), scratch)
        figures = [
            measure(spark, Path(folder) / number, int(number)) for number in groups.split(",")
        ]
        spark.stop()
    for figure in figures:
        click.echo(figure)
    click.echo(json.dumps({"subscriptions": figures}))


if __name__ == "__main__":
    main()
