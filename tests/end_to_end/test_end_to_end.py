from __future__ import annotations

import json
import time

import pytest
from kafka import TopicPartition

from group_coordinator.clients import AdminClient
from group_coordinator.clients.errors import GroupIdNotFoundError
from tests.end_to_end.commits import Commits, answered_ids, asked_ids
from tests.end_to_end.installation import Installation, Row
from tests.job_process import JobProcess

pytestmark = [pytest.mark.spark, pytest.mark.kafka]

ORDERS_0 = TopicPartition("orders", 0)
OFFSETS = "SELECT group_id, topic, partition, committed_offset FROM offsets"
BILLING = {"group_id": "billing", "topic": "orders", "partition": 0, "committed_offset": 42}
LOG_COLUMNS = ("group_id", "key", "value", "reason", "source_partition", "source_offset")


def admin_of(installation: Installation) -> AdminClient:
    return AdminClient(
        bootstrap_servers=installation.bootstrap_servers,
        tables_root=installation.tables_root,
        request_timeout_ms=300_000,
    )


def test_what_is_asked_is_answered_kept_and_known_after_a_restart(
    installation: Installation,
) -> None:
    run = ["run", "--with-compaction", *installation.options]
    with JobProcess(run, installation.folder) as job, admin_of(installation) as admin:
        admin.alter_consumer_group_offsets("billing", {ORDERS_0: 42}).all()
        admin.alter_consumer_group_offsets("audit", {ORDERS_0: 7}).all()
        assert admin.list_consumer_group_offsets("billing")[ORDERS_0].offset == 42
        assert job.stop() == 0, job.log

    with JobProcess(run, installation.folder) as job, admin_of(installation) as admin:
        assert admin.list_consumer_group_offsets("billing")[ORDERS_0].offset == 42
        admin.delete_consumer_groups(["audit"]).all()
        with pytest.raises(GroupIdNotFoundError):
            admin.delete_consumer_groups(["audit"]).all()
        await_rows(installation, OFFSETS, [BILLING], job)
        await_rows(installation, "SELECT group_id FROM groups", [{"group_id": "billing"}], job)
        assert job.stop() == 0, job.log

    assert installation.rows(
        "SELECT group_id, reason FROM coordinator_log ORDER BY batch_id, group_id, seq"
    ) == [
        {"group_id": "billing", "reason": "offset-commit"},
        {"group_id": "audit", "reason": "offset-commit"},
        {"group_id": "audit", "reason": "group-deleted"},
        {"group_id": "audit", "reason": "group-deleted"},
    ]


def test_a_driver_that_is_killed_in_mid_stream_leaves_the_log_of_one_that_was_not(
    installation: Installation,
) -> None:
    with Commits(installation) as commits:
        for batches in (3, 2):
            with JobProcess(["run", *installation.options], installation.folder) as job:
                await_batches(installation, batches, job)
                job.kill()
    drain = ["run", "--drain", "--with-compaction", *installation.options]
    with JobProcess(drain, installation.folder) as job:
        assert job.wait(400) == 0, job.log

    expected = [row for row in installation.expected_log() if row["group_id"].startswith("kill-")]
    logged = installation.rows(
        "SELECT * FROM coordinator_log WHERE group_id LIKE 'kill-%' ORDER BY group_id, batch_id, seq"
    )
    assert commits.sent == len(expected)
    for row in logged:
        row.update(key=json.loads(row["key"]), value=json.loads(row["value"]))
    assert [facts(row) for row in logged] == [facts(row) for row in expected]
    assert answered_ids(installation) == asked_ids(installation)
    last = {row["group_id"]: row["offset"] for row in expected}
    now = "SELECT group_id, committed_offset FROM offsets WHERE group_id LIKE 'kill-%'"
    assert {row["group_id"]: row["committed_offset"] for row in installation.rows(now)} == last


def facts(row: Row) -> tuple[object, ...]:
    return tuple(row[column] for column in LOG_COLUMNS)


def await_rows(installation: Installation, sql: str, rows: list[Row], job: JobProcess) -> None:
    deadline = time.monotonic() + 300
    while installation.rows(sql) != rows:
        job.check_alive()
        assert time.monotonic() < deadline, f"{installation.rows(sql)}\n{job.log}"
        time.sleep(0.2)


def await_batches(installation: Installation, batches: int, job: JobProcess) -> None:
    """Wait until this many more batches with records are in the log."""
    sql = "SELECT count(DISTINCT batch_id) AS batches FROM coordinator_log"
    before = installation.rows(sql)[0]["batches"]
    deadline = time.monotonic() + 300
    while installation.rows(sql)[0]["batches"] < before + batches:
        job.check_alive()
        assert time.monotonic() < deadline, job.log
        time.sleep(0.05)
