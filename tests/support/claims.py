"""Claims of a cluster's rows, as a mirror and the job write them."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
from deltalake import write_deltalake

from group_coordinator import settings
from group_coordinator.driver.mirror.run import mirror_settings
from group_coordinator.mirror.query import MIRROR
from group_coordinator.settings import JobSettings
from group_coordinator.streaming.checkpoint.layout import checkpoint_of
from group_coordinator.streaming.checkpoint.ownership import COORDINATOR, Claimant
from group_coordinator.tables.claims import WRITERS
from tests.support.log_rows import EPOCH


def claimed_by_job(root: Path, cluster_id: str, events_topic: str = "group-events") -> None:
    chosen = settings.load(
        overrides=[f"cluster.id={cluster_id}", f"events.topic={events_topic}"]
    ).job
    _claim(root, chosen, COORDINATOR)


def claimed_by_mirror(root: Path, cluster_id: str) -> None:
    chosen = settings.load(overrides=[f"cluster.id={cluster_id}"])
    _claim(root, mirror_settings(chosen, "__consumer_offsets").job, MIRROR)


def _claim(root: Path, job: JobSettings, claimant: Claimant) -> None:
    table = root / WRITERS.name
    row = {
        "cluster_id": job.cluster_id,
        "epoch": len(list((table / "_delta_log").glob("*.json"))),
        "writer_id": "0123456789abcdef",
        "checkpoint": checkpoint_of(job, claimant.query_name),
        "events_topic": job.events_topic,
        "program_version": "0.4.0",
        "claimed_at": EPOCH,
    }
    write_deltalake(table, pa.Table.from_pylist([row], WRITERS.no_rows().schema), mode="append")
