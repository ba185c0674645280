from __future__ import annotations

from contextlib import closing

import pytest
from kafka import KafkaConsumer, TopicPartition

from group_coordinator.clients.admin.client import AdminClient
from group_coordinator.clients.channel import Request, RequestChannel
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.errors import GroupIdNotFoundError
from tests.end_to_end.gateway_scene import GatewayBeside, ordinary_clients_are_coordinated
from tests.end_to_end.installation import Installation, Row
from tests.end_to_end.metrics_beside import MetricsBeside
from tests.support.job_process import JobProcess
from tests.support.transactional_producer import TransactionalProducer, markers_end

pytestmark = [pytest.mark.spark, pytest.mark.kafka]

ORDERS_0 = TopicPartition("orders", 0)
OFFSETS = "SELECT group_id, topic, partition, committed_offset FROM offsets WHERE topic = 'orders' ORDER BY group_id"
GROUPS = "SELECT group_id FROM groups WHERE group_id IN ('audit', 'billing', 'shipping') ORDER BY group_id"
CHANGES = "SELECT before, after, change, principal FROM audit WHERE group_id = 'audit' ORDER BY at"
BILLING = {"group_id": "billing", "topic": "orders", "partition": 0, "committed_offset": 42}
SHIPPING = {"group_id": "shipping", "topic": "orders", "partition": 0, "committed_offset": 9}
SHOWN = {
    "kafka_server_group_coordinator_metrics_offset_commit_count": 4.0,
    "kafka_server_group_coordinator_metrics_group_count classic": 3.0,
    "kafka_coordinator_group_groupmetadatamanager_numoffsets": 2.0,
    "kafka_consumergroup_current_offset billing 0 orders": 42.0,
    "kafka_consumergroup_members audit": 0.0,
    "group_coordinator_behind_events": 0.0,
    "group_coordinator_defects_total": 0.0,
    "group_coordinator_ready": 1.0,
}
"""Of three groups, one of which waits for the end of its transaction."""
COUNTED_ANEW = {
    "kafka_server_group_coordinator_metrics_offset_commit_count": 4.0,
    "kafka_consumergroup_current_offset_sum billing orders": 42.0,
}


def test_what_is_asked_is_answered_kept_and_known_after_a_restart(
    installation: Installation,
) -> None:
    """A transaction that ends while the job is down too: the next run finds its marker."""
    metrics = MetricsBeside(installation)
    run = ["run", "--with-compaction", *installation.options, *metrics.options]
    with (
        closing(TransactionalProducer(installation.bootstrap_servers, "shipping")) as producer,
        JobProcess(run, installation.folder) as job,
        installation.admin() as admin,
    ):
        commit_and_reset(admin)
        assert admin.list_consumer_group_offsets("billing")[ORDERS_0].offset == 42
        producer.add("shipping")
        commit_in_transaction(installation, producer, 9)
        metrics.await_series(job, SHOWN)
        assert job.stop() == 0, job.log
        producer.end(commits=True)

    assert metrics.take_kept_totals() == {"offset-commit": 4}
    gateway = GatewayBeside(installation)
    with (
        JobProcess([*run, *gateway.options], installation.folder) as job,
        installation.admin() as admin,
    ):
        assert admin.list_consumer_group_offsets("billing")[ORDERS_0].offset == 42
        many_groups_are_seen(gateway, metrics, job)
        admin.delete_consumer_groups(["audit"]).all()
        with pytest.raises(GroupIdNotFoundError):
            admin.delete_consumer_groups(["audit"]).all()
        await_rows(installation, OFFSETS, [BILLING, SHIPPING], job)
        await_rows(installation, GROUPS, [{"group_id": "billing"}, {"group_id": "shipping"}], job)
        metrics.agrees_with_the_log(job)
        assert job.stop() == 0, job.log

    assert installation.rows(
        "SELECT group_id, reason FROM coordinator_log WHERE group_id IN ('audit', 'billing', 'shipping') "
        "ORDER BY group_id = 'shipping', batch_id, group_id, seq"
    ) == [
        {"group_id": "billing", "reason": "offset-commit"},
        {"group_id": "audit", "reason": "offset-commit"},
        {"group_id": "audit", "reason": "offset-reset"},
        {"group_id": "audit", "reason": "group-deleted"},
        {"group_id": "audit", "reason": "group-deleted"},
        {"group_id": "shipping", "reason": "offset-commit"},
        {"group_id": "shipping", "reason": "transaction-committed"},
    ]
    assert installation.rows(CHANGES) == [
        {"before": 7, "after": 3, "change": "reset", "principal": "User:ANONYMOUS"},
        {"before": 3, "after": None, "change": "group-deleted", "principal": "User:ANONYMOUS"},
    ]


def many_groups_are_seen(gateway: GatewayBeside, metrics: MetricsBeside, job: JobProcess) -> None:
    """By their clients, and on the dashboard of somebody who looked before and after."""
    metrics.await_series(job, COUNTED_ANEW)
    before = metrics.scrape()
    with ordinary_clients_are_coordinated(gateway, job):
        metrics.answers_the_dashboard(job, before)


def commit_and_reset(admin: AdminClient) -> None:
    """As an administrator."""
    admin.alter_consumer_group_offsets("billing", {ORDERS_0: 42}).all()
    admin.alter_consumer_group_offsets("audit", {ORDERS_0: 7}).all()
    admin.commit_reset("audit", {ORDERS_0: 3}).all()


def commit_in_transaction(
    installation: Installation, producer: TransactionalProducer, offset: int
) -> None:
    """TxnOffsetCommit as a gateway hands it over."""
    servers = installation.bootstrap_servers
    with closing(KafkaConsumer(bootstrap_servers=servers)) as consumer:
        since = markers_end(consumer, "shipping")
    committed = {"partitionIndex": 0, "committedOffset": offset}
    body = {
        "groupId": "shipping",
        "producerId": producer.producer_id,
        "producerEpoch": producer.epoch,
        "markersEndOffset": since,
        "topics": [{"name": "orders", "partitions": [committed]}],
    }
    job = installation.settings.job
    with RequestChannel(
        Connection(servers),
        events_topic=job.events_topic,
        responses_topic=job.responses_topic,
        request_timeout_ms=job.request_timeout_ms,
    ) as channel:
        answer = channel.send(Request("TxnOffsetCommit", 3, "shipping", body)).result()
    assert answer["topics"][0]["partitions"] == [{"partitionIndex": 0, "errorCode": 0}]


def await_rows(installation: Installation, sql: str, rows: list[Row], job: JobProcess) -> None:
    job.until(
        lambda: installation.rows(sql) == rows,
        seconds=300,
        awaited=lambda: f"{rows}, not {installation.rows(sql)}",
    )
