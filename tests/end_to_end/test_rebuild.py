from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator

import pytest
from kafka import KafkaProducer, TopicPartition

from group_coordinator.clients import AdminClient
from group_coordinator.clients.channel import RequestChannel
from group_coordinator.clients.connection import Connection
from group_coordinator.clients.member import GroupMember
from group_coordinator.clients.member_options import MemberOptions
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
    known = first_life(installation, admin, member)
    log, tables = installation.rows(LOG), contents(installation)
    send(installation, "billing", commit("billing", 43))

    shutil.rmtree(installation.folder / installation.settings.job.checkpoint_location)

    assert "run `group-coordinator rebuild`" in refused(installation, "run")
    assert run_to_its_end(installation, "rebuild") == run_to_its_end(installation, "rebuild")
    compact(installation)
    assert contents(installation) == tables

    second_life(installation, admin, member, known)
    assert "is a checkpoint: nothing is rebuilt" in refused(installation, "rebuild")
    third_life(installation, admin)
    check_tables(installation, log)


def first_life(installation: Installation, admin: AdminClient, member: GroupMember) -> object:
    """A simple group, one that is gone, one with a member, and a dead letter; what clients know."""
    with JobProcess([*RUN, *installation.options], installation.folder) as job:
        admin.alter_consumer_group_offsets("billing", {ORDERS_0: 42}).all()
        admin.alter_consumer_group_offsets("gone", {ORDERS_0: 7}).all()
        send(installation, "billing", b"no JSON")
        admin.delete_consumer_groups(["gone"]).all()
        member.join()
        member.commit({ORDERS_0: 5})
        known = facts(admin)
        assert job.stop() == 0, job.log
    compact(installation)
    return known


def second_life(
    installation: Installation, admin: AdminClient, member: GroupMember, known: object
) -> None:
    """All is as before, and a member of the old generation goes on in it."""
    with JobProcess([*RUN, *installation.options], installation.folder) as job:
        await_offset(admin, "billing", 43)
        assert facts(admin) == known
        member.commit({ORDERS_1: 6})
        admin.alter_consumer_group_offsets("billing", {ORDERS_0: 44}).all()
        assert job.stop() == 0, job.log


def third_life(installation: Installation, admin: AdminClient) -> None:
    """A rebuilt checkpoint is one as any other: the job starts again from it."""
    with JobProcess([*RUN, *installation.options], installation.folder) as job:
        assert admin.list_consumer_group_offsets("billing")[ORDERS_0].offset == 44
        admin.delete_consumer_groups(["billing"]).all()
        assert job.stop() == 0, job.log
    compact(installation)


def check_tables(installation: Installation, log_before: list[Row]) -> None:
    """Every event once, as in a run that nothing disturbed, and the new batches behind the old ones."""
    log = installation.rows(LOG)
    new = [row for row in log if row not in log_before]
    assert min(row["batch_id"] for row in new) > max(row["batch_id"] for row in log_before)
    assert records(log) == records(installation.expected_log())
    letters = installation.rows("SELECT group_id, CAST(value AS TEXT) AS value FROM dead_letters")
    assert letters == [{"group_id": "billing", "value": "no JSON"}]
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


def commit(group: str, offset: int) -> bytes:
    partition = {"partitionIndex": 0, "committedOffset": offset}
    body = {"groupId": group, "topics": [{"name": "orders", "partitions": [partition]}]}
    return json.dumps({"api": "OffsetCommit", "version": 8, "body": body}).encode()


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
