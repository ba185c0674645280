from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from typing import Any

import pytest
from kafka import KafkaProducer, TopicPartition

from group_coordinator.clients import AdminClient
from group_coordinator.clients.channel import RequestChannel
from group_coordinator.clients.connection import Connection
from group_coordinator.clients.member import GroupMember
from group_coordinator.clients.member_options import MemberOptions, MemberState
from tests.end_to_end.installation import Installation, Row
from tests.job_process import JobProcess

pytestmark = [pytest.mark.spark, pytest.mark.kafka]

ORDERS_0, ORDERS_1 = TopicPartition("orders", 0), TopicPartition("orders", 1)
RUN = ["run", "--with-compaction"]
LOG = "SELECT * FROM coordinator_log ORDER BY group_id, batch_id, seq"
COMPACTED = (
    "SELECT * FROM groups ORDER BY group_id",
    "SELECT * FROM members ORDER BY group_id, member_id",
    "SELECT * FROM offsets ORDER BY group_id, topic, partition",
)
RECORD = ("group_id", "key", "value", "reason", "source_partition", "source_offset")
MEMBER = MemberOptions(
    client_id="shop-1",
    session_timeout_ms=600_000,
    rebalance_timeout_ms=60_000,
    heartbeat_interval_ms=1_000,
)


@pytest.fixture
def admin(installation: Installation) -> Iterator[AdminClient]:
    with AdminClient(
        bootstrap_servers=installation.bootstrap_servers,
        tables_root=installation.tables_root,
        request_timeout_ms=300_000,
    ) as client:
        yield client


@pytest.fixture
def member(installation: Installation) -> Iterator[GroupMember]:
    job = installation.settings.job
    with RequestChannel(
        Connection(installation.bootstrap_servers),
        events_topic=job.events_topic,
        responses_topic=job.responses_topic,
        request_timeout_ms=300_000,
    ) as channel:
        yield GroupMember(channel, "shop", ["orders"], {"orders": 2}, options=MEMBER)


def test_a_lost_checkpoint_is_made_anew_and_the_job_goes_on(
    installation: Installation, admin: AdminClient, member: GroupMember
) -> None:
    with JobProcess([*RUN, *installation.options], installation.folder) as job:
        admin.alter_consumer_group_offsets("billing", {ORDERS_0: 42}).all()
        admin.alter_consumer_group_offsets("gone", {ORDERS_0: 7}).all()
        send(installation, "billing", b"no JSON")
        admin.delete_consumer_groups(["gone"]).all()
        member.join()
        member.commit({ORDERS_0: 5})
        before = facts(admin)
        assert job.stop() == 0, job.log
    compact(installation)
    first_life, tables = installation.rows(LOG), contents(installation)
    while_down = {"topics": [{"name": "orders", "partitions": [partition(0, 43)]}]}
    send(installation, "billing", commit("billing", **while_down))

    shutil.rmtree(installation.folder / installation.settings.job.checkpoint_location)

    assert "run `group-coordinator rebuild`" in refused(installation, "run")
    assert run_to_its_end(installation, "rebuild") == run_to_its_end(installation, "rebuild")
    compact(installation)
    assert contents(installation) == tables

    with JobProcess([*RUN, *installation.options], installation.folder) as job:
        await_offset(admin, "billing", 43)
        assert facts(admin) == before
        member.commit({ORDERS_1: 6})
        admin.alter_consumer_group_offsets("billing", {ORDERS_0: 44}).all()
        assert job.stop() == 0, job.log
    with JobProcess([*RUN, *installation.options], installation.folder) as job:
        assert admin.list_consumer_group_offsets("billing")[ORDERS_0].offset == 44
        admin.delete_consumer_groups(["billing"]).all()
        assert job.stop() == 0, job.log
    compact(installation)

    assert "is a checkpoint: nothing is rebuilt" in refused(installation, "rebuild")
    assert member.state is MemberState.STABLE
    assert member.rebalances == 1
    second_life = [row for row in installation.rows(LOG) if row not in first_life]
    assert min(batches(second_life)) > max(batches(first_life))
    assert records(installation.rows(LOG)) == records(installation.expected_log())
    assert installation.rows(
        "SELECT source_offset FROM dead_letters WHERE group_id = 'billing'"
    ) == [{"source_offset": 1}]
    assert installation.rows("SELECT group_id FROM groups") == [{"group_id": "shop"}]


def facts(admin: AdminClient) -> tuple[object, ...]:
    """What clients see of the groups that nobody changes meanwhile."""
    shop = admin.describe_consumer_groups(["shop"])["shop"]
    gone = admin.describe_consumer_groups(["gone"])["gone"]
    return shop, gone.state, admin.list_consumer_group_offsets("shop")


def contents(installation: Installation) -> list[list[Row]]:
    return [installation.rows(sql) for sql in COMPACTED]


def records(rows: list[Row]) -> list[tuple[object, ...]]:
    return [tuple(plain(row[column]) for column in RECORD) for row in rows]


def plain(value: object) -> object:
    return json.loads(value) if isinstance(value, str) and value[:1] == "{" else value


def batches(rows: list[Row]) -> set[int]:
    return {row["batch_id"] for row in rows}


def partition(index: int, offset: int) -> Row:
    return {"partitionIndex": index, "committedOffset": offset}


def commit(group: str, **body: Any) -> bytes:
    event = {"api": "OffsetCommit", "version": 8, "body": {"groupId": group, **body}}
    return json.dumps(event).encode()


def send(installation: Installation, group: str, value: bytes) -> None:
    producer = KafkaProducer(bootstrap_servers=installation.bootstrap_servers)
    producer.send(installation.settings.job.events_topic, key=group.encode(), value=value)
    producer.close()


def run_to_its_end(installation: Installation, *command: str) -> list[str]:
    with JobProcess([*command, *installation.options], installation.folder) as process:
        assert process.wait(300) == 0, process.log
        return process.log.splitlines()[-5:]


def refused(installation: Installation, command: str) -> str:
    with JobProcess([command, *installation.options], installation.folder) as process:
        assert process.wait(300) == 1, process.log
        return process.log.splitlines()[-1]


def compact(installation: Installation) -> None:
    run_to_its_end(installation, "compact", "--drain")


def await_offset(admin: AdminClient, group: str, offset: int) -> None:
    deadline_s = time.monotonic() + 300
    while admin.list_consumer_group_offsets(group)[ORDERS_0].offset != offset:
        assert time.monotonic() < deadline_s
        time.sleep(0.2)
