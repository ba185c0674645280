"""Makes the golden files of the present state version: `python -m tests.golden.make`.

They are what a later version must be able to go on with, so they are made once a version and never again.
"""

from __future__ import annotations

import json
import tarfile
import tempfile
from base64 import b64encode
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from group_coordinator.codecs.snapshots.snapshot import SCHEMA_VERSION
from group_coordinator.local.folders import scratch_folder
from group_coordinator.local.jars import spark_jars
from group_coordinator.runtime.group_call import STATE_VERSION
from group_coordinator.runtime.outputs import unpack
from group_coordinator.runtime.update_group import UpdateContext
from group_coordinator.settings import Settings, load
from group_coordinator.streaming.batch_gate import BatchGate
from group_coordinator.streaming.batch_writer import Sinks
from group_coordinator.streaming.session import local_session
from group_coordinator.tables.creation import create_tables
from tests.golden.job import SETTINGS, compact, send, settings_in, start, writer
from tests.golden.story import FILES, HOUR_MS, START_MS, TOPIC, told
from tests.support.group_updates import updated


def main() -> None:
    snapshots = FILES / f"snapshots-{SCHEMA_VERSION}.json"
    job = FILES / f"job-{STATE_VERSION}.{SCHEMA_VERSION}.tar.gz"
    if snapshots.exists() and job.exists():
        raise SystemExit(f"{snapshots.name} and {job.name} are the witnesses of their version")
    if not snapshots.exists():
        snapshots.write_text(json.dumps(snapshots_of_groups(), indent=1) + "\n")
    if not job.exists():
        write_job(job)


def write_job(file: Path) -> None:
    """Archive what a job leaves."""
    with tempfile.TemporaryDirectory() as folder, scratch_folder() as scratch:
        run_job(Path(folder), scratch)
        with tarfile.open(file, "w:gz") as archive:
            for part in ("checkpoint", "tables"):
                archive.add(Path(folder) / part, part)


def snapshots_of_groups() -> dict[str, str]:
    """The state of each group in base64."""
    context = UpdateContext(
        load(overrides=SETTINGS).coordinator, TOPIC, timer_slack_ms=0, timers_suspended=True
    )
    states = {}
    for group, events in groupby(sorted(told()), key=itemgetter(0)):
        rows = unpack(event for _, event in events)
        state = updated(group, None, rows, START_MS + HOUR_MS, context).state
        assert state is not None
        states[group] = b64encode(state).decode()
    return states


def run_job(folder: Path, scratch: Path) -> None:
    """Leave a checkpoint and tables in a folder."""
    settings: Settings = load(overrides=settings_in(folder))
    spark = local_session(settings.job, spark_jars(), scratch)
    create_tables(settings.job.tables_root, lambda: spark)
    sinks = Sinks(job=settings.job, writer=writer(settings), report=lambda *_: None)
    send(spark, folder / "events", told())
    gate = BatchGate(sinks.write)
    query = start(spark, settings, folder / "events", gate)
    # The last batch must not be the one with the events: a start asks for its files, which are not kept.
    while query.lastProgress is None or query.lastProgress.batchId == 0:
        query.awaitTermination(0.1)
    gate.stop(query, spark.sparkContext)
    compact(spark, settings, version=0)
    spark.stop()


if __name__ == "__main__":
    main()
