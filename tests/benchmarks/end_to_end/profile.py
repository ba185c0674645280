"""Where the time of the whole way goes: samples of the JVM by JFR, and of the workers by py-spy where it is in PATH.

    python -m tests.benchmarks.end_to_end.profile [--shape 2] [--rounds 6] [--pipeline job] [--flames FOLDER]

Each sample counts for the first line of the table below that its stack has. Samples are of threads that run: one that
waits for a worker, for Kafka or for the disk is not in them. `--flames` leaves the stacks in a folder, folded as flame graphs
are made from.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pyspark.sql import SparkSession
from rich.console import Console
from rich.table import Column, Table

from group_coordinator.tables.creation import create_tables
from tests.benchmarks.end_to_end.__main__ import (
    PIPELINES,
    SHAPES,
    chosen_settings,
    fill,
    seconds_of_batches,
    session_beside_a_broker,
)

_JVM = {
    "JSON of outputs is taken apart": r"JacksonParser|JsonToStructs|GetJsonObject",
    "responses to Kafka": r"KafkaWriteTask|kafka\.clients\.producer|GZIP|Deflater",
    "Parquet and Delta": r"parquet|sql\.delta",
    "cache of the batch": r"columnar\.|InMemoryRelation|CachedBatch|BlockManager|SerializerHelper",
    "lines are cut": r"UTF8String\.(split|trim|substring)|StringSplit|ExplodeBase|GenerateExec|java\.lang\.String\.split",
    "state store": r"RocksDB|StateStore(?!RDD)",
    "exchange with the workers": r"PythonRunner|arrow\.|ArrowWriter|ArrowColumn",
    "events from Kafka, shuffle": r"kafka010|kafka\.clients\.consumer|shuffle|UnsafeExternalSorter|TimSort",
    "plans": r"catalyst|QueryExecution|DAGScheduler|ClosureCleaner|py4j",
}
_WORKER = {
    "a group's state: read, written": r"snapshots",
    "outputs: JSON of responses and records": r"Outputs\.|responses\.to_json|log_entry",
    "events: JSON to requests": r"events\.py|codecs/apis|_decode",
    "the state machine": r"group_coordinator/core/",
    "calls": r"update_group|group_call",
    "groups and events from the JVM": r"_received|SortedEvents|call_events",
    "rows and states to the JVM": r"_Output|OutputRows|packed_log|_struct_array|_announced",
}
_REST = "other"
_FRAME = re.compile(r"^    ([^\s(]+)\(", re.MULTILINE)
_SAMPLED_THREADS = re.compile(
    r"Executor task|stdout writer|stream execution|Thread-|kafka-producer"
)


@contextmanager
def flight_recording(spark: SparkSession, file: Path) -> Iterator[None]:
    """Record what the session's JVM does."""
    gateway: Any = spark.sparkContext._gateway  # noqa: SLF001 - PySpark has no public way
    [pid] = _descendants(gateway.proc.pid, "java")
    subprocess.run(  # noqa: S603 - a fixed program
        ["jcmd", pid, "JFR.start", "name=way", "settings=profile"],  # noqa: S607 - a fixed program
        check=True,
        capture_output=True,
    )
    yield
    subprocess.run(  # noqa: S603 - a fixed program
        ["jcmd", pid, "JFR.stop", "name=way", f"filename={file}"],  # noqa: S607 - a fixed program
        check=True,
        capture_output=True,
    )


def _descendants(root: int, name: str) -> list[str]:
    """Processes of that name: the root itself, or below it."""
    shown = subprocess.run(
        ["ps", "-e", "-o", "pid=,ppid=,comm="],  # noqa: S607 - a fixed program
        check=True,
        capture_output=True,
        text=True,
    )
    parents = {}
    names = {}
    for line in shown.stdout.splitlines():
        pid, parent, command = line.split(None, 2)
        parents[pid], names[pid] = parent, command
    family = {str(root)}
    for _ in range(5):
        family |= {pid for pid, parent in parents.items() if parent in family}
    return [pid for pid in family if names.get(pid, "").startswith(name)]


def jvm_stacks(file: Path) -> Iterator[str]:
    """The stack of each sample, a text."""
    command = ["jfr", "print", "--events", "jdk.ExecutionSample", "--stack-depth", "64", str(file)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout  # noqa: S603 - a fixed program
    for sample in printed.split("jdk.ExecutionSample {")[1:]:
        thread = re.search(r'sampledThread = "([^"]*)"', sample)
        if thread and _SAMPLED_THREADS.search(thread[1]):
            yield sample


@contextmanager
def worker_samples(folder: Path) -> Iterator[None]:
    """Let py-spy look at all Python workers, if there is a py-spy."""
    spy = shutil.which("py-spy")
    pids = _descendants(os.getpid(), "python") if spy else []
    options = ["--rate", "100", "--format", "raw", "--nonblocking"]
    spies = [
        subprocess.Popen(  # noqa: S603 - a fixed program
            [str(spy), "record", "--pid", pid, *options, "--output", str(folder / f"{pid}.raw")],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for pid in pids
        if pid != str(os.getpid())
    ]
    yield
    for each in spies:
        each.send_signal(2)
        each.wait()


def worker_stacks(folder: Path) -> Iterator[str]:
    """The stack of each sample, a text."""
    for file in folder.glob("*.raw"):
        for line in file.read_text().splitlines():
            stack, _, count = line.rpartition(" ")
            if "worker.py" in stack and "manager" not in stack.rpartition(";")[2]:
                yield from [stack] * int(count)


def folded(java_stack: str) -> str:
    """The methods of a sample in one line, the outermost first."""
    return ";".join(reversed(_FRAME.findall(java_stack)))


def _leave(stacks: Iterable[str], file: Path) -> None:
    lines = (f"{stack} {count}\n" for stack, count in Counter(stacks).most_common())
    file.write_text("".join(lines))


def shares(stacks: Iterable[str], kinds: dict[str, str]) -> Counter[str]:
    """How many samples there are of each kind."""
    patterns = {name: re.compile(pattern) for name, pattern in kinds.items()}
    return Counter(
        next((name for name, pattern in patterns.items() if pattern.search(stack)), _REST)
        for stack in stacks
    )


def _table(in_jvm: Iterable[str], in_workers: Iterable[str], title: str) -> Table:
    table = Table("where", "what", Column("samples", justify="right"), title=title)
    for where, found in {
        "JVM": shares(in_jvm, _JVM),
        "workers": shares(in_workers, _WORKER),
    }.items():
        for what, count in found.most_common():
            table.add_row(where, what, f"{count / found.total():.0%} ({count})")
    return table


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--shape", type=int, choices=range(len(SHAPES)), default=2)
    parser.add_argument("--rounds", type=int, default=6, help="batches, after the first one")
    parser.add_argument("--pipeline", choices=PIPELINES, default="job")
    parser.add_argument("--flames", type=Path, help="folder for jvm.folded and workers.folded")
    arguments = parser.parse_args()
    shape, rounds = SHAPES[arguments.shape], arguments.rounds
    events = shape[0] * shape[1]
    with session_beside_a_broker() as (spark, servers), TemporaryDirectory() as name:
        folder = Path(name)
        fill(servers, "events", shape, 2 * rounds + 2)
        chosen = chosen_settings(servers, "events", events, folder)
        create_tables(chosen.job.tables_root, lambda: spark)
        start = PIPELINES[arguments.pipeline]
        seconds_of_batches(spark, chosen, start, events, rounds)  # Java compiles what is hot
        with flight_recording(spark, folder / "way.jfr"), worker_samples(folder):
            seconds = seconds_of_batches(spark, chosen, start, events, rounds)
        in_jvm, in_workers = list(jvm_stacks(folder / "way.jfr")), list(worker_stacks(folder))
    if arguments.flames is not None:
        arguments.flames.mkdir(parents=True, exist_ok=True)
        _leave(map(folded, in_jvm), arguments.flames / "jvm.folded")
        _leave(in_workers, arguments.flames / "workers.folded")
    Console().print(_table(in_jvm, in_workers, f"{seconds} s"))


if __name__ == "__main__":
    main()
