from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from kafka import KafkaProducer, TopicPartition

from group_coordinator.clients import AdminClient
from group_coordinator.clients.channel import RequestChannel
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.member.member import GroupMember
from group_coordinator.clients.member.membership import MemberOptions
from group_coordinator.local.broker import EmbeddedBroker
from tests.end_to_end.installation import Installation, Row, installed
from tests.support.job_process import JobProcess
from tests.support.until import until

pytestmark = [
    pytest.mark.spark,
    pytest.mark.kafka,
]

ORDERS_0, ORDERS_1 = TopicPartition("orders", 0), TopicPartition("orders", 1)
LOG = "SELECT * FROM coordinator_log ORDER BY group_id, batch_id, seq"
OFFSETS = "SELECT group_id, partition, committed_offset FROM offsets ORDER BY group_id, partition"
OFFSETS_OF_THE_FIRST_LIFE = [
    {"group_id": "billing", "partition": 0, "committed_offset": 42},
    {"group_id": "shop", "partition": 0, "committed_offset": 5},
]
RECORD = ("group_id", "key", "value", "reason", "source_partition", "source_offset")
MEMBER = MemberOptions(
    client_id="shop-1",
    session_timeout_ms=600_000,
    rebalance_timeout_ms=60_000,
    heartbeat_interval_ms=1_000,
)


@pytest.fixture
def admin(installation: Installation) -> Iterator[AdminClient]:
    with installation.admin() as client:
        yield client


@pytest.fixture
def member(installation: Installation) -> Iterator[GroupMember]:
    with member_at(installation) as shops:
        yield shops


@contextmanager
def member_at(installation: Installation) -> Iterator[GroupMember]:
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
    log = installation.rows(LOG)
    send(installation, "billing", commit("billing", 43))

    shutil.rmtree(installation.folder / installation.settings.job.checkpoint_location)
    run_to_its_end(installation, "rebuild")

    second_life(installation, admin, member, known)
    third_life(installation)
    check_tables(installation, log)


def test_members_and_offsets_stay_when_the_state_is_divided_anew(
    broker: EmbeddedBroker, tmp_path: Path
) -> None:
    made = installed(Installation.named("repartition", broker.bootstrap_servers, tmp_path))
    divided = ["rebuild", "--partitions", "3"]
    with made.admin() as admin, member_at(made) as member:
        with JobProcess(["run", *made.options], made.folder) as job:
            admin.alter_consumer_group_offsets("billing", {ORDERS_0: 42}).all()
            member.join()
            member.commit({ORDERS_0: 5})
            known = facts(admin)
            with JobProcess([*divided, *made.options], made.folder) as early:
                assert early.wait(120) == 1, early.log
            assert "another run works on it: stop that run" in early.log
            assert job.stop() == 0, job.log
        log = made.rows(LOG)

        run_to_its_end(made, *divided)

        with JobProcess(["run", *made.options], made.folder) as job:
            await_offset(admin, "billing", 42)
            assert facts(admin) == known
            member.commit({ORDERS_1: 6})
            assert job.stop() == 0, job.log
    new = [row for row in made.rows(LOG) if row not in log]
    assert [(row["group_id"], row["reason"]) for row in new] == [("shop", "offset-commit")]
    assert "has 3 partitions and keeps them" in (made.folder / "run.log").read_text()


def first_life(installation: Installation, admin: AdminClient, member: GroupMember) -> object:
    """A simple group, one that is gone, one with a member, and a dead letter; what clients know."""
    with JobProcess(
        ["run", "--with-compaction", *installation.options], installation.folder
    ) as job:
        admin.alter_consumer_group_offsets("billing", {ORDERS_0: 42}).all()
        admin.alter_consumer_group_offsets("gone", {ORDERS_0: 7}).all()
        send(installation, "billing", b"no JSON")
        admin.delete_consumer_groups(["gone"]).all()
        member.join()
        member.commit({ORDERS_0: 5})
        known = facts(admin)
        until(
            lambda: installation.rows(OFFSETS) == OFFSETS_OF_THE_FIRST_LIFE,
            seconds=120,
            awaited="offsets in their table",
        )
        assert job.stop() == 0, job.log
    return known


def second_life(
    installation: Installation, admin: AdminClient, member: GroupMember, known: object
) -> None:
    """All is as before, and a member of the old generation goes on in it."""
    with JobProcess(["run", *installation.options], installation.folder) as job:
        await_offset(admin, "billing", 43)
        assert facts(admin) == known
        member.commit({ORDERS_1: 6})
        admin.alter_consumer_group_offsets("billing", {ORDERS_0: 44}).all()
        assert admin.list_consumer_group_offsets("billing")[ORDERS_0].offset == 44
        assert job.stop() == 0, job.log


def third_life(installation: Installation) -> None:
    """A rebuilt checkpoint is one as any other; compaction, which lost its own, begins with the log's first row."""
    body = {"groupsNames": ["billing"]}
    delete = {"api": "DeleteGroups", "version": 1, "body": body}
    send(installation, "billing", json.dumps(delete).encode())
    run_to_its_end(installation, "run", "--drain", "--with-compaction")


def check_tables(installation: Installation, log_before: list[Row]) -> None:
    """Every event once, as in a run that nothing disturbed, and the new batches behind the old ones."""
    log = installation.rows(LOG)
    new = [row for row in log if row not in log_before]
    assert min(row["batch_id"] for row in new) > max(row["batch_id"] for row in log_before)
    assert records(log) == records(installation.expected_lines("L"))
    letters = installation.rows("SELECT group_id, value FROM dead_letters")
    assert letters == [{"group_id": "billing", "value": b"no JSON"}]
    assert installation.rows("SELECT group_id, state, offset_count FROM groups") == [
        {"group_id": "shop", "state": "Stable", "offset_count": 2}
    ]
    assert installation.rows(OFFSETS) == [
        {"group_id": "shop", "partition": 0, "committed_offset": 5},
        {"group_id": "shop", "partition": 1, "committed_offset": 6},
    ]


def facts(admin: AdminClient) -> tuple[object, ...]:
    """What clients see of the groups that nobody changes meanwhile."""
    shop = admin.describe_consumer_groups(["shop"])["shop"]
    gone = admin.describe_consumer_groups(["gone"])["gone"]
    return shop, gone.state, admin.list_consumer_group_offsets("shop")


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


def run_to_its_end(installation: Installation, *command: str) -> None:
    with JobProcess([*command, *installation.options], installation.folder) as process:
        assert process.wait(600) == 0, process.log


def await_offset(admin: AdminClient, group: str, offset: int) -> None:
    until(
        lambda: admin.list_consumer_group_offsets(group)[ORDERS_0].offset == offset,
        seconds=300,
        awaited=f"offset {offset} of {group}",
        poll_s=0.2,
    )
