"""One text a view: Spark answers as the command line does, without a JVM, from the same tables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession

from group_coordinator.clients.sql_tables import query
from group_coordinator.core.model.requests import Topic
from group_coordinator.tables import creation
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.coordinator_log import COORDINATOR_LOG
from group_coordinator.tables.creation import create_views
from group_coordinator.tables.maintenance_work import session_conf
from group_coordinator.tables.views.all_views import VIEWS
from tests.support.extremes import add_mirrored_extremes, extreme_groups, sample_far_ends
from tests.support.group_history import GroupHistory, label, tables_of
from tests.support.runbook import queries
from tests.support.samples import sample, share_sample

pytestmark = pytest.mark.spark

ORDERS = Topic("orders", "AAAAAAAAAAAAAAAAAAAAAQ", 3)
SETTINGS = {"offsets_retention_ms": 60_000, "offsets_retention_check_interval_ms": 10_000}
CLIENT_ID = '\x01\t\r\n\b\fsay "hi" \\n \\\\ $name café \\'
ODD_LABELS = [
    (pattern, pattern, "odd", None)
    for pattern in ("A", r"a\n", r"*\*", "a ", "a*\n", "\ufffd*", "*\u0301", "c*n*s", "%", "_")
]
"""Patterns with characters that mean something in LIKE, in regular expressions, or in texts of SQL."""
QUICK = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
"""Of a few rows each, compiling the views takes nearly all of the time."""
SOURCES = (
    *("coordinator_log", "groups", "members", "offsets", "topic_positions"),
    *("share_group_offsets", "writers", "group_labels", "dead_letters", "denials"),
)


def classic_group() -> GroupHistory:
    """Commits, a rewind, a reset, a deletion, an expiry, and a second life."""
    group = GroupHistory("billing", **SETTINGS)
    group.principal = "User:billing"
    group.client_id = CLIENT_ID
    [member] = group.form()
    generation = group.group.membership.generation  # type: ignore[union-attr]
    group.commit({"orders": {0: 40, 1: 50}}, member, generation, metadata='"producerId":17')
    group.commit({"orders": {0: 30}}, member, generation)
    group.leave(member)
    group.alter_configs({"offsets.retention.ms": "30000"})
    group.commit({"orders": {0: 5}})
    group.delete_offsets({"orders": [1]})
    group.sleep(120_000)
    group.form()
    return group


def transactions() -> GroupHistory:
    """One that counts, one that is outdone, one that is aborted, one that is open."""
    group = GroupHistory("transactions", cluster_id="other", **SETTINGS)
    group.commit({"orders": {0: 1, 1: 2}})
    group.commit_in_transaction(17, "orders", 0, 10)
    group.commit_in_transaction(18, "orders", 0, 20)
    group.end_transaction(18, is_commit=True)
    group.end_transaction(17, is_commit=True)
    group.commit_in_transaction(17, "orders", 0, 30)
    group.end_transaction(17, is_commit=False)
    group.commit_in_transaction(17, "orders", 1, 40)
    return group


def consumer_group() -> GroupHistory:
    """Two members, of whom one falls silent."""
    group = GroupHistory("consumers", group_consumer_session_timeout_ms=45_000)
    group.client_id = CLIENT_ID
    group.learn_topics(ORDERS)
    group.consumers.join("a", ["orders"])
    group.consumers.join("b", ["orders"])
    group.commit({"orders": {0: 3}}, "b", group.consumers.epochs["b"], version=9)
    group.sleep(40_000)
    group.consumers.beat("b", {ORDERS.topic_id: []})
    group.sleep(10_000)
    return group


def left_behind() -> GroupHistory:
    """An offset where a transaction is open, one beyond the log, none, one of an emptied log, and all but a marker."""
    group = GroupHistory("left-behind", **SETTINGS)
    group.commit({"orders": {0: 52, 1: 900, 2: -1}, "bills": {0: 5, 1: 20}})
    return group


def unsubscribed() -> GroupHistory:
    """Its member reads another topic now."""
    group = GroupHistory("unsubscribed", group_initial_rebalance_delay_ms=0, **SETTINGS)
    group.commit({"orders": {0: 5}})
    group.form(topics=("refunds",))
    return group


def alike() -> list[GroupHistory]:
    """Groups whose names an engine, or a reader, might take for one."""
    names = ["a", "A", "a ", "a\0", "a\n", r"a\n", "é", "e\u0301", "\ufffd", ""]
    groups = [GroupHistory(name, cluster_id=id_) for id_ in ("test", "TEST") for name in names]
    for number, group in enumerate(groups):
        for offset in (number + 100, number):
            group.commit({"orders": {0: offset}})
    return groups


def sample_orders(root: Path) -> None:
    """It grows, rests, and is made again, and once there are two samplers; in the other cluster it is gone in the end."""
    for seconds, end in [(1, 30), (5, 60), (45, 60), (110, 90), (125, 40), (155, 55), (155.4, 50)]:
        sample(root, seconds, "orders", {0: end, 1: end, 2: end}, held_back=3)
    sample(root, 100, "bills", {0: 9, 1: 18}, held_back=3)
    sample(root, 155, "bills", {0: 9, 1: 21}, start=9)
    sample(root, 1, "orders", {0: 30, 1: 30}, cluster_id="other")
    sample(root, 100_000, "bills", {0: 30}, cluster_id="other")


def share_orders(root: Path) -> None:
    """A share group whose start offset moves and goes back, one that reads a log that is made again, and a partition without."""
    for seconds, start, lag in [
        (1, 10, 20),
        (5, 40, None),
        (45, 60, 0),
        (110, 20, 8),
        (155, 30, 25),
    ]:
        share_sample(
            root, seconds, "pickers", "orders", {0: (start, lag), 1: (None, None), 2: (70, lag)}
        )
    DeltaTable(root / "groups").update({"group_type": "'share'"}, predicate="group_id = 'pickers'")


@pytest.fixture
def schema(spark: SparkSession, tmp_path: Path) -> Iterator[TableCatalog]:
    """A catalog's schema with tables that are filled."""
    shared = GroupHistory("pickers", group_initial_rebalance_delay_ms=0)
    shared.form(topics=("orders",))
    told = (
        classic_group(),
        transactions(),
        consumer_group(),
        left_behind(),
        unsubscribed(),
        shared,
    )
    root = tables_of(tmp_path / "tables", *told, *extreme_groups(), *alike())
    add_mirrored_extremes(root)
    unnamed = {"client_id": "NULL", "client_host": "NULL"}
    DeltaTable(root / "members").update(unnamed, predicate="group_id = 'unsubscribed'")
    sample_orders(root)
    share_orders(root)
    sample_far_ends(root, 155)
    label(root, ("*", None, None, 60), *ODD_LABELS)
    spark.sql(f"CREATE SCHEMA of_views LOCATION '{tmp_path}/warehouse'")
    for name in SOURCES:
        spark.sql(f"CREATE TABLE of_views.{name} USING delta LOCATION '{root}/{name}'")
    spark.sql("USE of_views")
    yield TableCatalog("spark_catalog.of_views")
    spark.sql("USE default")
    spark.sql("DROP SCHEMA of_views CASCADE")


def test_views_of_a_catalog_answer_as_the_command_line_does(
    spark: SparkSession, schema: TableCatalog, tmp_path: Path
) -> None:
    with session_conf(spark, QUICK):
        assert len(create_views(spark, schema)) == len(VIEWS)
        for view in VIEWS:
            found = spark.table(schema.location(view.name))
            wanted = query(f"{tmp_path}/tables", f"SELECT * FROM {view.name}").to_pylist()  # noqa: S608 - our own names

            assert wanted
            assert sorted(found.toArrow().to_pylist(), key=str) == sorted(wanted, key=str)
            assert [
                (column.name, column.dataType.simpleString(), column.metadata["comment"])
                for column in found.schema
            ] == [(column.name, column.type, column.meaning) for column in view.columns]

        for _, sql in queries("sql"):
            # Errors of names and types come before a query runs.
            assert spark.sql(sql).columns

        places = spark.table(schema.location("partition_status")).select(
            "group_id", "topic", "partition", "status"
        )
        assert {
            tuple(row)
            for row in places.where("group_id IN ('left-behind', 'unsubscribed')").collect()
        } == {
            ("left-behind", "bills", 0, "LOSS"),
            ("left-behind", "bills", 1, "OK"),
            ("left-behind", "orders", 0, "HELD"),
            ("left-behind", "orders", 1, "AHEAD"),
            ("left-behind", "orders", 2, None),
            ("unsubscribed", "orders", 0, "UNSUBSCRIBED"),
            ("unsubscribed", "orders", 1, None),
            ("unsubscribed", "orders", 2, None),
        }
        clients = spark.table(schema.location("audit")).where("change = 'rewind'")
        assert r"\u0001" + CLIENT_ID[1:] in {
            row.client_id for row in clients.select("client_id").collect()
        }


def test_a_catalog_that_takes_no_views_is_left_without(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    jdbc = "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog"
    spark.conf.set("spark.sql.catalog.bare", jdbc)
    spark.conf.set("spark.sql.catalog.bare.url", "jdbc:derby:memory:bare;create=true")
    spark.conf.set("spark.sql.catalog.bare.driver", "org.apache.derby.iapi.jdbc.AutoloadedDriver")
    # Since Spark 4.2 the tables of a view are looked for first; Derby has no arrays, which most of them have.
    spark.sql("CREATE NAMESPACE bare.app")
    columns = (f"`{each.name}` {each.dataType.simpleString()}" for each in COORDINATOR_LOG.schema)
    spark.sql(f"CREATE TABLE bare.app.coordinator_log ({', '.join(columns)})")
    of_the_log = tuple(view for view in VIEWS if view.sources == {"coordinator_log"})
    monkeypatch.setattr(creation, "VIEWS", of_the_log)

    assert create_views(spark, TableCatalog("bare.app")) == []
