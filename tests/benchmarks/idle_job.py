"""What a job costs that has nothing to do: the share of a processor core and the files, some minutes after the last event.

    python -m tests.benchmarks.idle_job [--groups 200] [--after-s 240] [--seconds 120] [--set KEY=VALUE]...

The real command runs in a process of its own, with compaction, against a real broker, whose own time does not count.
Then one more commit is sent and answered: how long that takes after the rest.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from kafka import TopicPartition

from group_coordinator.local.broker import EmbeddedBroker
from tests.benchmarks.measured import processor_s, show
from tests.end_to_end.installation import Installation, installed
from tests.support.job_process import JobProcess

ORDERS = TopicPartition("orders", 0)


def measure(
    groups: int, after_s: float, seconds: float, overrides: tuple[str, ...]
) -> dict[str, float]:
    """One run of the job."""
    with EmbeddedBroker() as broker, TemporaryDirectory() as folder:
        given = Installation(broker.bootstrap_servers, Path(folder))
        installation = installed(
            Installation(given.bootstrap_servers, given.folder, (*given.overrides, *overrides))
        )
        arguments = ["run", "--with-compaction", *installation.options]
        with JobProcess(arguments, given.folder) as job, installation.admin() as admin:
            for number in range(groups):
                admin.alter_consumer_group_offsets(f"group-{number}", {ORDERS: number})
            admin.list_consumer_group_offsets("group-0")
            time.sleep(after_s)
            before_s, before = processor_s(job.pid), files_below(given.folder)
            time.sleep(seconds)
            used_s, after = processor_s(job.pid) - before_s, files_below(given.folder)
            asked_s = time.monotonic()
            admin.alter_consumer_group_offsets("group-0", {ORDERS: 1}).all()
            answered_s = time.monotonic() - asked_s
            job.stop()
    an_hour = 3600 / seconds
    return {
        "cores": round(used_s / seconds, 3),
        "answer_after_the_rest_s": round(answered_s, 2),
        "new_files_an_hour": round(len(after - before) * an_hour),
        "more_files_an_hour": round((len(after) - len(before)) * an_hour),
        "new_table_files_an_hour": round(sum(map(is_of_a_table, after - before)) * an_hour),
    }


def files_below(folder: Path) -> frozenset[Path]:
    """All of them: of tables, checkpoints and logs."""
    return frozenset(path for path in folder.rglob("*") if path.is_file())


def is_of_a_table(file: Path) -> bool:
    """Whether it is a row file, or part of Delta's log."""
    return "group-coordinator-tables" in file.parts


def main() -> None:
    """Print the table and the JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--groups", type=int, default=200)
    parser.add_argument("--after-s", type=float, default=240)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--set", action="append", default=[], dest="overrides")
    chosen = parser.parse_args()
    figures = measure(chosen.groups, chosen.after_s, chosen.seconds, tuple(chosen.overrides))
    show("a job without anything to do", figures)


if __name__ == "__main__":
    main()
