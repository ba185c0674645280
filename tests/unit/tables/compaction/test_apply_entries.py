from __future__ import annotations

import pytest
from msgspec import to_builtins

from group_coordinator.core.model.records import OffsetRecord, Reason, Record, TransactionMarker
from group_coordinator.core.model.topic_offsets import CommittedOffset
from group_coordinator.tables.compaction.rows import (
    AssignedPartition,
    GroupKey,
    GroupRows,
    StoredLogEntry,
)
from group_coordinator.tables.compaction.spark import Change
from tests.support.log_rows import Log, member
from tests.support.mirrored_log import FoldedTables

ORDERS_0 = ("orders", 0)


class Tables(FoldedTables):
    """The rows of one group, kept up by folding its log."""

    key = GroupKey("c", "g")

    def take(self, log: Log) -> list[Change]:
        return self.take_entries(entries(log))

    def expires_at(self, topic: str = "orders", partition: int = 0) -> int | None:
        return self.rows.offsets[topic, partition].expires_at


def entries(log: Log) -> list[StoredLogEntry]:
    return [
        StoredLogEntry(row.batch_id, row.seq, row.key, row.value, row.at_ms) for row in log.rows
    ]


def test_the_first_offset_makes_a_simple_group() -> None:
    tables = Tables()
    log = Log(now_ms=1_000, batch_id=4)
    log.commit("g", "orders", 0, 42)

    tables.take(log)

    assert to_builtins(tables.rows.offsets[ORDERS_0]) == {
        "cluster_id": "c",
        "group_id": "g",
        "topic": "orders",
        "topic_id": None,
        "partition": 0,
        "committed_offset": 42,
        "leader_epoch": None,
        "metadata": "",
        "commit_timestamp": 1_000,
        "expire_timestamp": None,
        "expires_at": 70_000,
        "updated_at": 1_000,
        "batch_id": 4,
    }
    assert tables.group.protocol_type is None
    assert tables.group.state == "Empty"
    assert tables.group.offset_count == 1
    assert tables.group.next_expiration == 70_000


def test_a_simple_group_without_offsets_stays_until_its_tombstone() -> None:
    tables = Tables()
    log = Log()
    log.commit("g", "orders", 0, 42)
    log.forget("g", "orders", 0)
    tables.take(log)
    assert tables.group.offset_count == 0
    assert tables.group.next_expiration is None

    log = Log(now_ms=10_000)
    log.end("g")
    tables.take(log)
    assert tables.rows == GroupRows()


def test_a_group_may_end_and_begin_again_in_one_stretch() -> None:
    tables = Tables()
    log = Log()
    log.group("g", [member("a", ["orders"], {"orders": [0]})])
    log.end("g")
    log.commit("g", "orders", 0, 1)

    tables.take(log)

    assert tables.group.protocol_type is None
    assert tables.rows.members == {}
    assert list(tables.rows.offsets) == [ORDERS_0]


def test_a_group_that_nobody_has_joined_yet_is_empty_since_its_record() -> None:
    tables = Tables()
    log = Log(now_ms=3_000)
    log.group("g", [], protocolType="", protocol=None, generation=0)
    tables.take(log)
    assert (tables.group.protocol_type, tables.group.empty_since) == (None, 3_000)

    log = Log(now_ms=9_000)
    log.commit("g", "orders", 0, 42)
    tables.take(log)
    assert (tables.group.protocol_type, tables.group.empty_since) == (None, 3_000)
    assert tables.expires_at() == 70_000


def test_a_subscription_protects_and_its_end_lets_go() -> None:
    tables = Tables()
    log = Log()
    log.group("g", [member("a", ["orders"], {"orders": [0]})])
    log.commit("g", "orders", 0, 42)
    log.commit("g", "payments", 0, 42)
    tables.take(log)
    assert tables.expires_at("orders") is None
    assert tables.expires_at("payments") == 70_000
    assert tables.group.next_expiration == 70_000

    log = Log(now_ms=55_000, batch_id=1)
    log.group("g", [])
    tables.take(log)
    assert tables.expires_at("orders") == 120_000
    assert tables.expires_at("payments") == 120_000
    assert tables.group.empty_since == 55_000
    assert tables.rows.offsets[ORDERS_0].updated_at == 55_000
    assert tables.rows.offsets[ORDERS_0].batch_id == 1


@pytest.mark.parametrize(
    ("now_ms", "times", "committed_at", "expires_at"),
    [
        (7_000, {"expireTimestamp": 20_001}, 7_000, 30_000),
        (500_000, {"commitTimestamp": 1_000}, 1_000, 510_000),
        (0, {"commitTimestamp": 2**63 - 1}, 253_402_300_799_999, 253_402_300_799_999),
    ],
    ids=["the client's expiry", "overdue: with the next sweep", "the last time that can be shown"],
)
def test_times_of_an_offset(
    now_ms: int, times: dict[str, int], committed_at: int, expires_at: int
) -> None:
    tables, log = Tables(), Log(now_ms=now_ms)
    log.commit("g", "orders", 0, 42, **times)
    tables.take(log)
    assert tables.rows.offsets[ORDERS_0].commit_timestamp == committed_at
    assert tables.expires_at() == expires_at


def test_a_group_of_another_protocol_keeps_everything_while_it_has_members() -> None:
    tables = Tables()
    log = Log()
    log.group("g", [member("a", [], {})], protocolType="connect")
    log.commit("g", "orders", 0, 42)
    tables.take(log)
    assert tables.expires_at() is None
    assert tables.group.expiration_base == "never"
    assert tables.rows.members["a"].subscribed_topics is None
    assert tables.rows.members["a"].assigned_partitions is None


def test_members_are_replaced_and_unchanged_ones_left_alone() -> None:
    tables = Tables()
    a, b = member("a", ["orders"], {"orders": [0]}), member("b", ["orders"], {"orders": [1]})
    log = Log()
    log.group("g", [a, b])
    tables.take(log)
    assert tables.rows.members["b"].assigned_partitions == [AssignedPartition("orders", 1)]

    log = Log(now_ms=9_000)
    log.group("g", [a], generation=2)
    changes = tables.take(log)
    assert [(change.table, change.delete) for change in changes] == [
        ("groups", False),
        ("members", True),
    ]
    assert tables.rows.members["a"].updated_at == 0


def test_entries_count_in_the_order_of_their_batches() -> None:
    tables = Tables()
    late, early = Log(batch_id=2, now_ms=5_000), Log(batch_id=1)
    early.commit("g", "orders", 0, 1)
    late.commit("g", "orders", 0, 2)
    late.rows += early.rows
    tables.take(late)
    assert tables.rows.offsets[ORDERS_0].committed_offset == 2


# Transactions.


OFFSET = CommittedOffset(
    offset=42,
    leader_epoch=None,
    metadata="",
    commit_timestamp_ms=1_000,
    expire_timestamp_ms=None,
    topic_id=None,
)
PENDING = OffsetRecord("orders", 0, OFFSET, Reason.OFFSET_COMMIT, producer_id=17)


def taken(*stretches: list[Record]) -> Tables:
    """The tables after stretches of a log, a second after the other."""
    tables = Tables()
    for batch_id, stretch in enumerate(stretches):
        log = Log(batch_id, now_ms=1_000 * batch_id)
        for record in stretch:
            log.record("g", record)
        tables.take(log)
    return tables


def test_an_offset_of_an_open_transaction_is_not_in_the_table_yet() -> None:
    tables = taken([PENDING])

    assert tables.rows.offsets == {}
    assert tables.group.offset_count == 0


def test_the_marker_brings_it() -> None:
    marker = TransactionMarker(17, (("orders", 0, OFFSET),), Reason.TRANSACTION_COMMITTED)
    tables = taken([PENDING], [marker])

    assert tables.rows.offsets[ORDERS_0].committed_offset == 42
    assert tables.rows.offsets[ORDERS_0].updated_at == 1_000
    assert tables.group.offset_count == 1


def test_an_abort_brings_nothing() -> None:
    assert (
        taken([PENDING, TransactionMarker(17, (), Reason.TRANSACTION_ABORTED)]).rows.offsets == {}
    )
