from __future__ import annotations

import json
import re
import time

import pytest
from deltalake import DeltaTable
from kafka import KafkaProducer

from tests.end_to_end.installation import Installation
from tests.support.job_process import JobProcess

pytestmark = [pytest.mark.spark, pytest.mark.kafka]

DRAIN = ("run", "--drain", "--with-compaction")
BATCHES = "SELECT reason, min(batch_id) AS first, max(batch_id) AS last FROM coordinator_log GROUP BY reason"


def drain(installation: Installation, *overrides: str) -> None:
    settings = [option for setting in overrides for option in ("--set", setting)]
    with JobProcess([*DRAIN, *installation.options, *settings], installation.folder) as job:
        assert job.wait(300) == 0, job.log
    assert not re.search("scheduler pool|cancel job group", job.log), "warnings that say nothing"


def commit(installation: Installation, group: str, offsets: range, committed_at_ms: int) -> None:
    """Commits as the first version of the API made them, with a time of their own."""
    producer = KafkaProducer(bootstrap_servers=installation.bootstrap_servers)
    for offset in offsets:
        partition = {
            "partitionIndex": 0,
            "committedOffset": offset,
            "commitTimestamp": committed_at_ms,
        }
        body = {"groupId": group, "topics": [{"name": "orders", "partitions": [partition]}]}
        event = json.dumps({"api": "OffsetCommit", "version": 1, "body": body})
        producer.send(
            installation.settings.job.events_topic, key=group.encode(), value=event.encode()
        )
    producer.close()


def test_a_drain_ends_without_events_and_takes_a_limited_backlog_before_anything_expires(
    installation: Installation,
) -> None:
    drain(installation)
    assert installation.rows("SELECT * FROM coordinator_log") == []

    # The offset of `forgotten` is two hours old, with a retention of one; the others come behind it.
    commit(installation, "forgotten", range(1), time.time_ns() // 1_000_000 - 7_200_000)
    commit(installation, "busy", range(200), time.time_ns() // 1_000_000)
    overrides = ("max.offsets.per.trigger=50", "offsets.retention.check.interval.ms=1000")
    drain(installation, *overrides, "maintenance.new.files=3")

    batches = {row["reason"]: row for row in installation.rows(BATCHES)}
    assert batches["offset-commit"]["last"] - batches["offset-commit"]["first"] >= 3
    assert batches["offset-expired"]["first"] >= batches["offset-commit"]["last"]
    assert installation.rows("SELECT group_id, committed_offset FROM offsets") == [
        {"group_id": "busy", "committed_offset": 199}
    ]
    assert installation.rows("SELECT group_id FROM groups") == [{"group_id": "busy"}]
    # One file a batch, put together at the end of the run.
    log = DeltaTable(f"{installation.tables_root}/coordinator_log")
    assert [commit["operation"] for commit in log.history(2)] == ["OPTIMIZE", "WRITE"]
    assert len(log.file_uris()) == 1
