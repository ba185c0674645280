"""What a job costs that has nothing to do: the share of a processor core and the files, some minutes after the last event.

    python -m tests.benchmarks.idle_job [--groups 200] [--after-s 240] [--seconds 120] [--set KEY=VALUE]... [--store STORE]

The real command runs in a process of its own, with compaction, against a real broker, whose own time does not count.
Then one more commit is sent and answered: how long that takes after the rest.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from kafka import TopicPartition

from group_coordinator.clients import AdminClient
from group_coordinator.local.broker import EmbeddedBroker
from tests.benchmarks.measured import processor_s, show
from tests.benchmarks.stores import STORES_MEASURED, kind
from tests.end_to_end.installation import SETTINGS, Installation
from tests.support.job_process import JobProcess
from tests.support.object_store import Request
from tests.support.stores import S3, STORES, Store, TablesOnS3

ORDERS = TopicPartition("orders", 0)


def measure(
    groups: int, after_s: float, seconds: float, overrides: tuple[str, ...], store: str
) -> dict[str, float]:
    """One run of the job."""
    with ExitStack() as resources:
        broker = resources.enter_context(EmbeddedBroker())
        folder = Path(resources.enter_context(TemporaryDirectory()))
        (folder / "store").mkdir()
        place = resources.enter_context(STORES[store](folder / "store"))
        if store != "disk":
            overrides = (*overrides, *place.settings(folder))
        settings = (*SETTINGS, "compaction.interval.ms=10000", *overrides)
        installation = Installation(broker.bootstrap_servers, folder, settings)
        initialized(installation)
        arguments = ["run", "--with-compaction", *installation.options]
        job = resources.enter_context(JobProcess(arguments, folder))
        with installation.admin() as admin:
            busy(admin, groups)
            time.sleep(after_s)
            figures = at_rest(job, folder, place, seconds)
            asked_s = time.monotonic()
            admin.alter_consumer_group_offsets("group-0", {ORDERS: 1}).all()
            figures["answer_after_the_rest_s"] = round(time.monotonic() - asked_s, 2)
        job.stop()
    return figures


def busy(admin: AdminClient, groups: int) -> None:
    """A commit a group."""
    for number in range(groups):
        admin.alter_consumer_group_offsets(f"group-{number}", {ORDERS: number})
    admin.list_consumer_group_offsets("group-0")


def at_rest(job: JobProcess, folder: Path, place: Store, seconds: float) -> dict[str, float]:
    """What comes together in this time."""
    before_s, before = processor_s(job.pid), files_below(folder)
    requests_of(place)
    time.sleep(seconds)
    requests = requests_of(place)
    used_s, after = processor_s(job.pid) - before_s, files_below(folder)
    an_hour = 3600 / seconds
    kinds = Counter(map(kind, requests)).most_common()
    return {
        "cores": round(used_s / seconds, 3),
        "new_files_an_hour": round(len(after - before) * an_hour),
        "more_files_an_hour": round((len(after) - len(before)) * an_hour),
        "new_table_files_an_hour": round(sum(map(is_of_a_table, after - before)) * an_hour),
        "requests_an_hour": round(len(requests) * an_hour),
        **{" ".join(map(str, each)): round(count * an_hour) for each, count in kinds},
    }


def initialized(installation: Installation) -> None:
    """By the command, which reaches every store."""
    with JobProcess(["init", *installation.options], installation.folder) as init:
        assert init.wait(180) == 0, init.log


def requests_of(place: Store) -> list[Request]:
    """What came to an object store since this was asked last."""
    return place.store.requests() if isinstance(place, S3 | TablesOnS3) else []


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
    parser.add_argument("--store", choices=STORES_MEASURED, default="disk")
    chosen = parser.parse_args()
    figures = measure(
        chosen.groups, chosen.after_s, chosen.seconds, tuple(chosen.overrides), chosen.store
    )
    show("a job without anything to do", figures)


if __name__ == "__main__":
    main()
