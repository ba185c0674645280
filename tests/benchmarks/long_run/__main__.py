"""Do memory, latency and files stay as they are while the job runs for hours?

    python -m tests.benchmarks.long_run [--rate 300] [--minutes 120] [--folder DIR]

The real command runs with compaction and the default settings, in a process of its own, against a real broker. At a
steady rate 500 groups commit, 20 members of two groups live, and each second one more group commits and is deleted. A
line a minute tells what was seen (--folder keeps them in minutes.csv, and the job's log); the table at the end tells
each tenth of the time.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event

from kafka import KafkaProducer
from rich.console import Console
from rich.table import Table

from group_coordinator.local.broker import EmbeddedBroker
from tests.benchmarks.latency import Answers
from tests.benchmarks.long_run.minute import Minute, Watch
from tests.benchmarks.long_run.traffic import SteadyTraffic
from tests.benchmarks.measured import show
from tests.benchmarks.throughput import commit
from tests.end_to_end.installation import Installation
from tests.support.job_process import JobProcess

EVENTS = "group-events"
PARTS = 10
_say = Console(stderr=True).print


def minutes(rate: int, count: int, folder: Path) -> Iterator[Minute]:
    """Run the job for so many minutes; what each was like."""
    with EmbeddedBroker() as broker:
        installation = Installation(broker.bootstrap_servers, folder, ())
        with JobProcess(["init", *installation.options], folder) as init:
            assert init.wait(180) == 0, init.log
        answers = Answers(broker.bootstrap_servers)
        arguments = ["run", "--with-compaction", *installation.options]
        with JobProcess(arguments, folder) as job:
            _await_first(broker.bootstrap_servers, answers, job)
            with SteadyTraffic(installation, rate) as traffic:
                watch = Watch(job.pid, folder, traffic, answers)
                for _ in range(count):
                    Event().wait(60)
                    job.check_alive()
                    assert not traffic.failures, traffic.failures
                    yield watch.minute()
            assert job.stop() == 0, job.log
        answers.close()


def _await_first(bootstrap_servers: str, answers: Answers, job: JobProcess) -> None:
    producer = KafkaProducer(bootstrap_servers=bootstrap_servers)
    producer.send(EVENTS, key=b"first", value=commit("first", -1))
    producer.close()
    job.until(lambda: "c--1" in answers.arrived_s, seconds=180, awaited="an answer")


def kept(found: Iterator[Minute], file: Path) -> list[Minute]:
    """All of them, each told and written down as soon as it is over."""
    names = [field.name for field in fields(Minute)]
    seen: list[Minute] = []
    with file.open("w", newline="") as lines:
        writer = csv.DictWriter(lines, names)
        writer.writeheader()
        for minute in found:
            seen.append(minute)
            writer.writerow(asdict(minute))
            lines.flush()
            _say(minute)
    return seen


def tell(seen: Sequence[Minute]) -> None:
    """The last minute of each tenth of the time; of latencies the medians over that tenth."""
    names = [field.name for field in fields(Minute)]
    table = Table(*names, title="A long run")
    length = max(1, len(seen) // PARTS)
    for end in range(length, len(seen) + 1, length):
        part = Minute.of_part(seen[end - length : end])
        table.add_row(*(f"{value:,}" for value in asdict(part).values()))
    Console(width=200).print(table)


def main() -> None:
    """Print the table and the JSON of the second and of the last tenth."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--rate", type=int, default=300, help="commits per second")
    parser.add_argument("--minutes", type=int, default=120)
    parser.add_argument("--folder", type=Path, help="of the tables, the checkpoint and the figures")
    chosen = parser.parse_args()
    with TemporaryDirectory() as temporary:
        folder = (chosen.folder or Path(temporary)).absolute()
        folder.mkdir(parents=True, exist_ok=True)
        seen = kept(minutes(chosen.rate, chosen.minutes, folder), folder / "minutes.csv")
    tell(seen)
    length = max(1, len(seen) // PARTS)
    early, late = Minute.of_part(seen[length : 2 * length] or seen), Minute.of_part(seen[-length:])
    result = {f"early_{name}": value for name, value in asdict(early).items()}
    show("Early and late", result | {f"late_{name}": value for name, value in asdict(late).items()})


if __name__ == "__main__":
    main()
