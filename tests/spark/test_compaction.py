from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from deltalake import DeltaTable, Transaction
from pyspark.sql import SparkSession

from group_coordinator.core.model.consumer_member import (
    CurrentAssignment,
    GroupEpoch,
    ReconciliationState,
    ResolvedRegex,
    SubscriptionMetadata,
    TargetEpoch,
)
from group_coordinator.core.model.records import (
    ConfigRecord,
    CurrentRecord,
    GroupEpochRecord,
    MemberRecord,
    Reason,
    RegexRecord,
    TargetEpochRecord,
    TargetRecord,
)
from group_coordinator.core.model.requests import Topic
from group_coordinator.tables import append
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.compaction import compaction as local_compaction
from group_coordinator.tables.compaction import spark as spark_compaction
from group_coordinator.tables.compaction.compaction import Compaction
from group_coordinator.tables.compaction.rows import ENTRY_COLUMNS, Retention
from group_coordinator.tables.coordinator_log import COORDINATOR_LOG
from group_coordinator.tables.definition import GROUP_KEY
from tests.support.log_rows import Log, member

pytestmark = pytest.mark.spark

RETENTION = Retention(retention_ms=60_000, check_interval_ms=10_000)
ALL = ("group_configs", "members", "offsets", "groups")

ORDERS_ID = "4ksO1bcLSgCStYJnTlCVLg"
TOPICS = {"orders": Topic("orders", ORDERS_ID, 3)}
MEMBER = SubscriptionMetadata(
    group_instance_id=None,
    rack_id=None,
    client_id="c",
    client_host="/h",
    topic_names=("orders",),
    topic_regex="pay.*",
    rebalance_timeout_ms=1_000,
    server_assignor=None,
    classic=None,
)
REVOKING = CurrentAssignment(
    2, 1, ReconciliationState.UNREVOKED_PARTITIONS, {ORDERS_ID: {0: 2}}, {ORDERS_ID: {2: 1}}
)

Take = Callable[[Log, str], None]


@pytest.fixture
def on_the_driver(spark: SparkSession, catalog: TableCatalog) -> Take:
    def take(log: Log, application: str) -> None:
        Compaction(catalog, "test", RETENTION, application).apply(log.frame(spark), log.batch_id)

    return take


@pytest.fixture
def of_the_log_table(
    spark: SparkSession, catalog: TableCatalog, on_the_driver: Take, monkeypatch: pytest.MonkeyPatch
) -> Take:
    """As of many rows: the driver reads them from coordinator_log, without Java."""
    monkeypatch.setattr(append, "MOST_ROWS", 0)
    monkeypatch.setattr(spark_compaction, "compact", refuse)
    logged: set[int] = set()

    def take(log: Log, application: str) -> None:
        if log.batch_id not in logged:
            logged.add(log.batch_id)
            put_into_the_table(log, spark, catalog)
        on_the_driver(log, application)

    return take


@pytest.fixture
def by_spark(spark: SparkSession, catalog: TableCatalog) -> Take:
    def take(log: Log, application: str) -> None:
        frame = log.frame(spark).select(*GROUP_KEY, *ENTRY_COLUMNS)
        spark_compaction.compact(
            catalog, "test", frame, RETENTION, Transaction(application, log.batch_id)
        )

    return take


TableHas = Callable[..., None]
Rows = Callable[[str], list[Any]]


@pytest.fixture
def table_has(catalog: TableCatalog) -> TableHas:
    """Compare these columns of a table, in any order of the rows; a struct is a tuple."""

    def check(table: str, columns: str, *expected: tuple[object, ...]) -> None:
        read = DeltaTable(catalog.location(table)).to_pyarrow_table(columns=columns.split())
        found = [tuple(map(plain, row.values())) for row in read.to_pylist()]
        assert sorted(found, key=repr) == sorted(expected, key=repr)

    return check


def plain(value: object) -> object:
    match value:
        case dict():
            return tuple(map(plain, value.values()))
        case list():
            return list(map(plain, value))
        case _:
            return value


@pytest.fixture
def rows(catalog: TableCatalog) -> Rows:
    def read(table: str) -> list[Any]:
        return sorted(DeltaTable(catalog.location(table)).to_pyarrow_table().to_pylist(), key=repr)

    return read


@pytest.mark.parametrize("way", ["on_the_driver", "by_spark", "of_the_log_table"])
def test_a_log_becomes_tables(
    request: pytest.FixtureRequest, table_has: TableHas, rows: Rows, way: str
) -> None:
    take: Take = request.getfixturevalue(way)
    log = Log()
    log.commit("simple", "orders", 0, 5)
    log.commit("simple", "orders", 0, 7, topicId="kR2Wz3XqTl6mQ0v9s8bEuA", leaderEpoch=3)
    log.group("live", [member("a", ["orders"], {"orders": [0, 1]})])
    log.commit("live", "orders", 1, 9)
    log.commit("live", "payments", 0, 2)
    log.commit("kept", "orders", 0, 3)
    take(log, "first")

    table_has(
        "offsets",
        "group_id topic partition committed_offset topic_id leader_epoch",
        ("live", "orders", 1, 9, None, None),
        ("live", "payments", 0, 2, None, None),
        ("kept", "orders", 0, 3, None, None),
        ("simple", "orders", 0, 7, "kR2Wz3XqTl6mQ0v9s8bEuA", 3),
    )
    table_has(
        "offsets",
        "group_id topic expires_at updated_at batch_id",
        ("live", "orders", None, second(3), 0),
        ("live", "payments", second(70), second(4), 0),
        ("kept", "orders", second(70), second(5), 0),
        ("simple", "orders", second(70), second(1), 0),
    )
    table_has(
        "groups",
        "group_id state protocol_type member_count offset_count",
        ("live", "Stable", "consumer", 1, 2),
        ("kept", "Empty", None, 0, 1),
        ("simple", "Empty", None, 0, 1),
    )
    table_has(
        "groups",
        "group_id next_expiration updated_at empty_since",
        ("live", second(70), second(4), None),
        ("kept", second(70), second(5), None),
        ("simple", second(70), second(1), None),
    )
    table_has(
        "members",
        "member_id subscribed_topics assigned_partitions",
        ("a", ["orders"], [("orders", 0), ("orders", 1)]),
    )

    later = a_minute_later()
    take(later, "first")

    table_has(
        "offsets",
        "group_id topic expires_at updated_at batch_id",
        ("live", "orders", second(120), second(60), 1),
        ("live", "payments", second(120), second(60), 1),
        ("kept", "orders", second(610), second(63), 1),
    )
    table_has(
        "groups",
        "group_id state empty_since next_expiration batch_id",
        ("live", "Empty", second(60), second(120), 1),
        ("kept", "Empty", None, second(610), 1),
    )
    assert [list(row.values()) for row in rows("group_configs")] == [
        ["test", "kept", "offsets.retention.ms", "600000", second(63), 1]
    ]
    assert rows("members") == []

    done = {table: rows(table) for table in ALL}
    take(later, "a query that has lost its checkpoint")
    assert {table: rows(table) for table in ALL} == done


def a_minute_later() -> Log:
    """One group becomes empty, one ends, and one that nobody touches is given a longer retention."""
    log = Log(batch_id=1, now_ms=60_000)
    log.group("live", [])
    log.forget("simple", "orders", 0)
    log.end("simple")
    log.record("kept", ConfigRecord("offsets.retention.ms", "600000", Reason.CONFIG))
    return log


@pytest.mark.parametrize("way", ["on_the_driver", "by_spark", "of_the_log_table"])
def test_a_group_may_be_called_anything(
    request: pytest.FixtureRequest, table_has: TableHas, way: str
) -> None:
    take: Take = request.getfixturevalue(way)
    log, later = Log(), Log(batch_id=1, now_ms=60_000)
    groups = ("o'brien", "' OR 1=1 --", "back\\slash", "crème 🐟", "'")
    for group in groups:
        log.commit(group, "orders", 0, 5)
        later.commit(group, "orders", 0, 6)
    take(log, "first")
    take(later, "first")

    table_has("offsets", "group_id committed_offset", *((group, 6) for group in groups))


def a_rebalance() -> Log:
    """A member of a consumer group that gives a partition back."""
    log = Log()
    log.commit("g", "orders", 0, 5, topicId=ORDERS_ID)
    log.record("g", MemberRecord("a", MEMBER, Reason.HEARTBEAT))
    log.record("g", RegexRecord("pay.*", ResolvedRegex(("pay",), 7, 9), Reason.HEARTBEAT))
    log.record("g", GroupEpochRecord(GroupEpoch(2, -77), Reason.HEARTBEAT))
    log.record("g", TargetRecord("a", {ORDERS_ID: (0, 1)}, Reason.HEARTBEAT), TOPICS)
    log.record("g", TargetEpochRecord(TargetEpoch(2, 4_000), Reason.HEARTBEAT))
    log.record("g", CurrentRecord("a", REVOKING, Reason.HEARTBEAT), TOPICS)
    return log


def a_leave() -> Log:
    """A minute later it is gone."""
    log = Log(batch_id=1, now_ms=60_000)
    log.record("g", CurrentRecord("a", None, Reason.LEAVE))
    log.record("g", TargetRecord("a", None, Reason.LEAVE))
    log.record("g", MemberRecord("a", None, Reason.LEAVE))
    log.record("g", RegexRecord("pay.*", None, Reason.LEAVE))
    log.record("g", GroupEpochRecord(GroupEpoch(3), Reason.LEAVE))
    return log


@pytest.mark.parametrize("way", ["on_the_driver", "by_spark", "of_the_log_table"])
def test_a_consumer_group_becomes_tables(
    request: pytest.FixtureRequest, table_has: TableHas, rows: Rows, way: str
) -> None:
    take: Take = request.getfixturevalue(way)
    take(a_rebalance(), "first")

    table_has(
        "groups",
        "group_type state generation_or_epoch assignment_epoch metadata_hash",
        ("consumer", "Reconciling", 2, 2, -77),
    )
    table_has(
        "groups",
        "assignment_timestamp resolved_regexes",
        (second(4), [("pay.*", ["pay"], 7, 9)]),
    )
    table_has(
        "members",
        "member_id member_epoch member_state member_type subscribed_regex",
        ("a", 2, "UNREVOKED_PARTITIONS", "consumer", "pay.*"),
    )
    held, to_give_back = ("orders", ORDERS_ID, 0, 2), ("orders", ORDERS_ID, 2, 1)
    table_has(
        "members",
        "assigned_partitions current_assignment pending_revocation target_assignment",
        (
            [("orders", 0)],
            [held],
            [to_give_back],
            [("orders", ORDERS_ID, 0), ("orders", ORDERS_ID, 1)],
        ),
    )
    table_has("offsets", "topic expires_at", ("orders", None))

    done = {table: rows(table) for table in ALL}
    take(a_rebalance(), "a query that has lost its checkpoint")
    assert {table: rows(table) for table in ALL} == done

    take(a_leave(), "first")
    assert rows("members") == []
    table_has("groups", "state empty_since resolved_regexes", ("Empty", second(62), []))
    table_has("offsets", "topic expires_at", ("orders", second(70)))


def test_a_batch_may_be_done_again(on_the_driver: Take, rows: Rows, catalog: TableCatalog) -> None:
    take = on_the_driver
    log = Log(batch_id=3)
    log.commit("g", "orders", 0, 5)
    log.group("g", [member("a", ["orders"], {"orders": [0]})])
    take(log, "query")
    once = {table: rows(table) for table in ALL}

    take(log, "query")
    take(log, "a query that has lost its checkpoint")

    assert {table: rows(table) for table in ALL} == once
    versions = {table: DeltaTable(catalog.location(table)).version() for table in ALL}
    assert versions == {"group_configs": 0, "members": 1, "offsets": 1, "groups": 1}


def test_a_batch_that_was_done_by_half_is_finished(
    on_the_driver: Take, rows: Rows, catalog: TableCatalog
) -> None:
    take = on_the_driver
    log = Log(batch_id=3)
    log.commit("g", "orders", 0, 5)
    log.commit("g", "orders", 1, 5)
    take(log, "query")
    once = {table: rows(table) for table in ALL}

    DeltaTable(catalog.location("groups")).delete()
    DeltaTable(catalog.location("offsets")).delete("partition = 1")
    take(log, "a query that has done the offsets only")

    assert {table: rows(table) for table in ALL} == once


def second(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def test_a_large_log_is_applied_by_spark(
    spark: SparkSession, catalog: TableCatalog, rows: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A commit may have 4 KB of metadata, a group's record a megabyte."""
    log = Log()
    log.commit("simple", "orders", 0, 5)
    put_into_the_table(log, spark, catalog)
    monkeypatch.setattr(append, "MOST_BYTES", 100)
    monkeypatch.setattr(local_compaction, "_MOST_BYTES", 100)
    monkeypatch.setattr(local_compaction, "compact", refuse)

    Compaction(catalog, "test", RETENTION, "large").apply(log.frame(spark), 0)

    assert [row["committed_offset"] for row in rows("offsets")] == [5]


def test_records_that_maintenance_has_removed_since_are_applied_too(
    spark: SparkSession, catalog: TableCatalog, rows: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = Log()
    log.commit("simple", "orders", 0, 5)
    put_into_the_table(log, spark, catalog)
    log.commit("simple", "orders", 1, 6)
    monkeypatch.setattr(append, "MOST_ROWS", 0)

    Compaction(catalog, "test", RETENTION, "late").apply(log.frame(spark), 0)

    assert [row["committed_offset"] for row in rows("offsets")] == [5, 6]


def test_the_driver_applies_records_of_any_number_of_groups(
    catalog: TableCatalog, rows: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_compaction, "_ROWS_AT_ONCE", 40_000)
    names = [f"group-{number}" for number in range(50_000)]
    commits, later = Log(), Log(batch_id=1)
    for name in names:
        commits.commit(name, "orders", 0, 5)
        later.commit(name, "orders", 0, 6)

    for log in (commits, later):
        transaction = Transaction("many", log.batch_id)
        local_compaction.compact(catalog, "test", log.entries(), RETENTION, transaction)

    found = [(row["group_id"], row["committed_offset"], row["batch_id"]) for row in rows("offsets")]
    assert sorted(found) == sorted((name, 6, 1) for name in names)
    assert [row["offset_count"] for row in rows("groups")] == [1] * len(names)


def put_into_the_table(log: Log, spark: SparkSession, catalog: TableCatalog) -> None:
    catalog.save(log.frame(spark).write.format("delta").mode("append"), COORDINATOR_LOG.name)


def refuse(*_: object) -> None:
    raise AssertionError
