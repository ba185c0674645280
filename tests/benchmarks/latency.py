"""How long an answer takes, and how much memory the job takes, while compaction runs.

    python -m tests.benchmarks.latency [--rate 500] [--seconds 60] [--floor]

The real command runs in a process of its own against a real broker. A commit's latency is the time from its send to the
arrival of its response at a consumer; commits of the first minute, in which Spark warms up, do not count.

The floor is a second run, in which a function without any rule (identity_job.py) takes the place of the coordinator's,
with the same sources, sinks and compaction.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread

from kafka import KafkaConsumer, KafkaProducer, TopicPartition

from group_coordinator import settings
from group_coordinator.local.broker import EmbeddedBroker
from tests.benchmarks.measured import Memory, show
from tests.benchmarks.throughput import commit
from tests.support.job_process import COMMAND, JobProcess

GROUPS = 500
WARM_UP_S = 60
FLOOR = ("tests.benchmarks.identity_job",)
EVENTS, RESPONSES = "group-events", "group-responses"


class Answers:
    """Reads the responses topic from now on and notes when each answer came."""

    def __init__(self, bootstrap_servers: str) -> None:
        self.arrived_s: dict[str, float] = {}
        self._over = Event()
        self._consumer = KafkaConsumer(
            bootstrap_servers=bootstrap_servers, enable_auto_commit=False
        )
        partitions = self._consumer.partitions_for_topic(RESPONSES)
        self._consumer.assign([TopicPartition(RESPONSES, p) for p in partitions])
        self._consumer.seek_to_end()
        for partition in self._consumer.assignment():
            self._consumer.position(partition)
        self._thread = Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        while not self._over.is_set():
            for records in self._consumer.poll(timeout_ms=100).values():
                now_s = time.monotonic()
                for record in records:
                    self.arrived_s.setdefault(json.loads(record.value)["correlationId"], now_s)

    def close(self) -> None:
        self._over.set()
        self._thread.join()
        self._consumer.close()


def send(producer: KafkaProducer, rate: int, seconds: int) -> dict[str, float]:
    """Commit at a steady rate; when each was sent, by correlation id."""
    sent_s: dict[str, float] = {}
    start_s = time.monotonic()
    for number in range(rate * seconds):
        delay_s = start_s + number / rate - time.monotonic()
        if delay_s > 0:
            time.sleep(delay_s)
        group = f"group-{number % GROUPS}"
        sent_s[f"c-{number}"] = time.monotonic()
        producer.send(EVENTS, key=group.encode(), value=commit(group, number))
    producer.flush()
    return sent_s


def measure(
    rate: int,
    seconds: int,
    folder: Path,
    program: tuple[str, ...] = COMMAND,
    overrides: tuple[str, ...] = (),
) -> dict[str, float]:
    """One run of the job with these settings, or of what is in its place."""
    with EmbeddedBroker() as broker:
        options = ["--bootstrap-server", broker.bootstrap_servers]
        options += [part for override in overrides for part in ("--set", override)]
        with JobProcess(["init", *options], folder) as init:
            assert init.wait(180) == 0, init.log
        answers = Answers(broker.bootstrap_servers)
        producer = KafkaProducer(bootstrap_servers=broker.bootstrap_servers, linger_ms=5)
        with JobProcess(["run", "--with-compaction", *options], folder, program) as job:
            memory = Memory(job.pid)
            _await_first(producer, answers, job)
            sent_s = send(producer, rate, WARM_UP_S + seconds)
            deadline_s = time.monotonic() + 60
            while sent_s.keys() - answers.arrived_s.keys() and time.monotonic() < deadline_s:
                job.check_alive()
                time.sleep(0.1)
            job.stop()
            memory.close()
        answers.close()
        producer.close()
    counted = list(sent_s.items())[rate * WARM_UP_S :]
    waits_s = sorted(
        answers.arrived_s[key] - at_s for key, at_s in counted if key in answers.arrived_s
    )
    return {
        "events_per_second": rate,
        "answered": len(waits_s),
        "unanswered": len(counted) - len(waits_s),
        "median_s": round(statistics.median(waits_s), 3),
        "p99_s": round(waits_s[int(len(waits_s) * 0.99)], 3),
        "longest_s": round(waits_s[-1], 3),
        "memory_bytes": memory.highest_bytes,
    }


def _await_first(producer: KafkaProducer, answers: Answers, job: JobProcess) -> None:
    """Spark takes its time to start."""
    producer.send(EVENTS, key=b"first", value=commit("first", -1))
    job.until(lambda: "c--1" in answers.arrived_s, seconds=180, awaited="an answer", poll_s=0.1)


def main() -> None:
    """Print the table and the JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--rate", type=int, default=500, help="events per second")
    parser.add_argument("--seconds", type=int, default=60, help="how long, after the warm-up")
    parser.add_argument("--floor", action="store_true", help="run the floor too; print the ratio")
    arguments = parser.parse_args()
    assert settings.load().job.events_topic == EVENTS
    with TemporaryDirectory() as folder:
        result = measure(arguments.rate, arguments.seconds, Path(folder))
    if arguments.floor:
        with TemporaryDirectory() as folder:
            floor = measure(arguments.rate, arguments.seconds, Path(folder), FLOOR)
        result["floor_median_s"] = floor["median_s"]
        result["median_ratio"] = round(result["median_s"] / floor["median_s"], 2)
    show("From event to response, compaction running", result)


if __name__ == "__main__":
    main()
