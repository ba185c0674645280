"""How do speed and memory go with the size of a batch, and what if half of its events are one group's?

    python -m tests.benchmarks.batch_sizes

The real command reads what is there to the end (`run --drain`), in a process of its own for each size, with 100 groups and
the rate limit as size. The time of a batch is the one that the job's log says, the median of those that are full but the
first ones, in which Spark warms up; memory is the highest that the process and all that it started had.
"""

from __future__ import annotations

import argparse
import re
import statistics
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import confluent_kafka
from rich.console import Console
from rich.table import Column, Table

from group_coordinator.local.broker import EmbeddedBroker
from tests.benchmarks.measured import Memory
from tests.benchmarks.throughput import commit
from tests.end_to_end.installation import Installation, installed
from tests.support.job_process import JobProcess

GROUPS = 100
SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000)
BATCHES = 6
"""Of each size at least."""
LEAST_EVENTS = 60_000
COLD_BATCHES = 2
_PATIENCE_S = 600
_LINE = re.compile(r"batch \d+: (\d+) events, \d+ groups, (\d+) ms")
_say = Console(stderr=True).print


class Case(NamedTuple):
    """A size of batches; with `is_lopsided` every second event is of one group."""

    events: int
    is_lopsided: bool = False

    @property
    def batches(self) -> int:
        """How many there are."""
        return max(BATCHES, LEAST_EVENTS // self.events)

    def group(self, number: int) -> str:
        """Whose event it is: a group's are all even, or all odd, and so in one partition."""
        is_of_one = self.is_lopsided and number % 2
        return "busy" if is_of_one else f"group-{number % GROUPS}"


CASES = (*map(Case, SIZES), Case(SIZES[-1], is_lopsided=True))


class Seen(NamedTuple):
    """A case's figures."""

    case: Case
    batch_ms: float
    memory_bytes: int

    @property
    def events_per_second(self) -> int:
        """In a batch."""
        return round(self.case.events / self.batch_ms * 1000)


def fill(installation: Installation, case: Case) -> None:
    """Write all batches' events, as many to each partition."""
    producer = confluent_kafka.Producer(
        {"bootstrap.servers": installation.bootstrap_servers, "linger.ms": 50}
    )
    topic = installation.settings.job.events_topic
    for number in range(case.batches * case.events):
        group = case.group(number)
        producer.produce(topic, commit(group, number), group, partition=number % 2)
        if number % 1_000 == 0:
            producer.poll(0.05 if len(producer) > 50_000 else 0)
    producer.flush(_PATIENCE_S)


def seen(bootstrap_servers: str, case: Case, name: str) -> Seen:
    """Let the job read them all."""
    with TemporaryDirectory(ignore_cleanup_errors=True) as temporary:
        folder = Path(temporary)
        limit = f"max.offsets.per.trigger={case.events}"
        overrides = ("events.topic.partitions=2", "responses.topic.partitions=2", limit)
        installation = Installation.named(name, bootstrap_servers, folder, overrides)
        installed(installation)
        fill(installation, case)
        with JobProcess(["run", "--drain", *installation.options], folder) as job:
            memory = Memory(job.pid)
            assert job.wait(_PATIENCE_S) == 0, job.log
            memory.close()
        full = [int(ms) for events, ms in _LINE.findall(job.log) if int(events) == case.events]
        return Seen(case, statistics.median(full[COLD_BATCHES:]), memory.highest_bytes)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.parse_args()
    headings = ("events", "batch ms", "events/s", "memory GB")
    table = Table(*(Column(heading, justify="right") for heading in headings), title="Batches")
    with EmbeddedBroker() as broker:
        for number, case in enumerate(CASES):
            _say(f"{case} ...")
            found = seen(broker.bootstrap_servers, case, f"case-{number}")
            table.add_row(
                f"{case.events:,}" + (", half of one group" if case.is_lopsided else ""),
                f"{found.batch_ms:,.0f}",
                f"{found.events_per_second:,}",
                f"{found.memory_bytes / 2**30:.2f}",
            )
    Console().print(table)


if __name__ == "__main__":
    main()
