from __future__ import annotations

import pytest
from kafka import TopicPartition

from group_coordinator.clients.errors import GroupIdNotFoundError
from tests.end_to_end.installation import Installation, Row
from tests.support.job_process import JobProcess

pytestmark = [pytest.mark.spark, pytest.mark.kafka]

ORDERS_0 = TopicPartition("orders", 0)
OFFSETS = "SELECT group_id, topic, partition, committed_offset FROM offsets"
BILLING = {"group_id": "billing", "topic": "orders", "partition": 0, "committed_offset": 42}


def test_what_is_asked_is_answered_kept_and_known_after_a_restart(
    installation: Installation,
) -> None:
    run = ["run", "--with-compaction", *installation.options]
    with JobProcess(run, installation.folder) as job, installation.admin() as admin:
        admin.alter_consumer_group_offsets("billing", {ORDERS_0: 42}).all()
        admin.alter_consumer_group_offsets("audit", {ORDERS_0: 7}).all()
        assert admin.list_consumer_group_offsets("billing")[ORDERS_0].offset == 42
        assert job.stop() == 0, job.log

    with JobProcess(run, installation.folder) as job, installation.admin() as admin:
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


def await_rows(installation: Installation, sql: str, rows: list[Row], job: JobProcess) -> None:
    job.until(
        lambda: installation.rows(sql) == rows,
        seconds=300,
        awaited=lambda: f"{rows}, not {installation.rows(sql)}",
    )
