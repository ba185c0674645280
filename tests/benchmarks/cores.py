"""What a second core brings: the job on one core and on two, over the same events.

    python -m tests.benchmarks.cores [--rounds 3]

Each run is a process of its own, whose threads are bound to that many cores; the broker has served the events before the
batches are timed, as Spark reads ahead. 10,000 groups x 10 events, the shape that costs most.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys

from group_coordinator import settings
from group_coordinator.local.broker import EmbeddedBroker
from group_coordinator.local.folders import scratch_folder
from group_coordinator.local.jars import spark_jars
from group_coordinator.streaming.session import local_session
from tests.benchmarks.measured import show
from tests.benchmarks.throughput import SHAPES, batch_seconds, fill, job_function

TOPIC = "events"


def run_alone(bootstrap_servers: str, cores: int, rounds: int) -> float:
    """The median time of a batch, in seconds, in a process with this many cores."""
    command = [sys.executable, "-m", __spec__.name, "--rounds", str(rounds)]
    child = subprocess.run(  # noqa: S603 - a fixed program
        [*command, "--child", bootstrap_servers, "--cores", str(cores)],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    seconds: list[float] = json.loads(child.stdout.splitlines()[-1])
    return statistics.median(seconds)


def child(bootstrap_servers: str, cores: int, rounds: int) -> None:
    """Run on the first cores only, and print the batches' seconds."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    chosen = settings.load(
        overrides=[f"bootstrap.servers={bootstrap_servers}", f"shuffle.partitions={cores}"]
    )
    with scratch_folder() as scratch:
        spark = local_session(chosen.job, spark_jars(), scratch)
        spark.sparkContext.setLogLevel("OFF")  # the query is stopped in the middle of an idle batch
        function = job_function(chosen, TOPIC, "lean")
        print(json.dumps(batch_seconds(spark, chosen.job, TOPIC, function, rounds)))
        spark.stop()


def main() -> None:
    """Print the table and the JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3, help="counted batches a run")
    parser.add_argument("--child", metavar="BOOTSTRAP", help=argparse.SUPPRESS)
    parser.add_argument("--cores", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        child(arguments.child, arguments.cores, arguments.rounds)
        return
    groups, events = SHAPES[0]
    with EmbeddedBroker() as broker:
        fill(broker.bootstrap_servers, TOPIC, groups, events, arguments.rounds + 1)
        one = run_alone(broker.bootstrap_servers, 1, arguments.rounds)
        two = run_alone(broker.bootstrap_servers, 2, arguments.rounds)
    result = {"one_core_s": one, "two_cores_s": two, "times_as_fast": round(one / two, 2)}
    show("10,000 groups x 10 events", result)


if __name__ == "__main__":
    main()
