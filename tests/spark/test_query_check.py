"""Which SQL is refused before Spark runs it, and which is not."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from group_coordinator.driver.checks.queries import check_query
from group_coordinator.driver.errors import StartUpError
from group_coordinator.tables.views.all_views import VIEWS
from group_coordinator.tables.views.definition import SPARK, ViewDefinition

pytestmark = pytest.mark.spark

TABLES = ("coordinator_log", "groups")


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Iterator[None]:
    """Two rows of the log, no groups."""
    log = "SELECT 'billing' AS group_id, timestamp_millis(id) AS event_time FROM range({})"
    for name, rows in zip(TABLES, (2, 0), strict=True):
        spark.sql(log.format(rows)).createOrReplaceTempView(name)
    yield
    for name in TABLES:
        spark.catalog.dropTempView(name)


COMMAND = "is not allowed: the tables are read-only; use SELECT, WITH, VALUES, SHOW TABLES, DESCRIBE or EXPLAIN"
NO_TABLE = "is not allowed: use the tables and views that jobs/reference lists"
NO_FUNCTION = "is not allowed: use Spark's own functions, except those that call Java or read files"


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("DROP VIEW groups", f"^DropView {COMMAND}"),
        ("/* a */ -- b\n DROP/**/VIEW groups", f"^DropView {COMMAND}"),
        ("\u00a0DROP VIEW groups", f"^DropView {COMMAND}"),
        ("DROP TABLE IF EXISTS main.coordinator.coordinator_log", COMMAND),
        ("CREATE VIEW mine AS SELECT 1", COMMAND),
        ("CREATE TEMPORARY VIEW groups AS SELECT 1", COMMAND),
        ("CREATE TABLE mine USING csv LOCATION '/tmp/file' AS SELECT 1", COMMAND),
        ("CREATE FUNCTION f AS 'java.lang.Runtime'", COMMAND),
        ("INSERT INTO groups SELECT * FROM groups", COMMAND),
        ("FROM groups INSERT INTO offsets SELECT *", COMMAND),
        ("INSERT OVERWRITE DIRECTORY '/tmp/file' USING csv SELECT 1", COMMAND),
        ("WITH g AS (SELECT * FROM groups) INSERT INTO groups SELECT * FROM g", COMMAND),
        ("DELETE FROM groups", COMMAND),
        ("UPDATE groups SET group_id = 'g'", COMMAND),
        ("TRUNCATE TABLE groups", COMMAND),
        ("MERGE INTO groups USING offsets ON true WHEN MATCHED THEN DELETE", COMMAND),
        ("VACUUM delta.`/tmp/file` RETAIN 0 HOURS", COMMAND),
        ("SET spark.sql.shuffle.partitions = 1", COMMAND),
        ("SET", COMMAND),
        ("RESET", COMMAND),
        ("USE default", COMMAND),
        ("CACHE TABLE groups", COMMAND),
        ("REFRESH '/tmp/file'", COMMAND),
        ("ADD FILE '/tmp/file'", COMMAND),
        ("ADD JAR '/tmp/file'", COMMAND),
        ("DECLARE VARIABLE mine INT", COMMAND),
        ("EXECUTE IMMEDIATE 'DROP VIEW groups'", COMMAND),
        ("BEGIN SELECT 1; DROP VIEW groups; END", "SQL_SCRIPTING|CompoundBody is not allowed"),
        ("EXPLAIN DROP VIEW groups", COMMAND),
        ("SELECT TRANSFORM (1) USING 'touch /tmp/file' AS (a)", "ScriptTransformation is not allowed"),
        ("SELECT * FROM (FROM groups MAP group_id USING 'touch /tmp/file' AS (a))", "ScriptTransformation is not allowed"),
        ("SELECT (SELECT max(a) FROM (SELECT TRANSFORM (1) USING 'touch /tmp/file' AS (a)))", "ScriptTransformation is not allowed"),
        ("SELECT * FROM csv.`/etc/passwd`", f"csv./etc/passwd {NO_TABLE}"),
        ("SELECT * FROM groups WHERE group_id IN (SELECT _c0 FROM csv.`/etc/passwd`)", f"csv./etc/passwd {NO_TABLE}"),
        ("SELECT EXISTS (SELECT * FROM text.`/etc/passwd`)", f"text./etc/passwd {NO_TABLE}"),
        ("SELECT CASE WHEN true THEN (SELECT max(value) FROM text.`/etc/passwd`) END", f"text./etc/passwd {NO_TABLE}"),
        ("SELECT * FROM groups ORDER BY (SELECT max(value) FROM text.`/etc/passwd`)", f"text./etc/passwd {NO_TABLE}"),
        ("SELECT * FROM groups JOIN text.`/etc/passwd` ON true", f"text./etc/passwd {NO_TABLE}"),
        ("SELECT * FROM explode((SELECT collect_list(value) FROM text.`/etc/passwd`))", f"text./etc/passwd {NO_TABLE}"),
        ("SELECT transform(array(1), x -> (SELECT max(value) FROM text.`/etc/passwd`))", f"text./etc/passwd {NO_TABLE}"),
        ("WITH t AS (SELECT * FROM text.`/etc/passwd`) SELECT * FROM t", f"text./etc/passwd {NO_TABLE}"),
        ("EXPLAIN SELECT * FROM text.`/etc/passwd`", f"text./etc/passwd {NO_TABLE}"),
        ("DESCRIBE SELECT * FROM text.`/etc/passwd`", f"text./etc/passwd {NO_TABLE}"),
        ("DESCRIBE TABLE EXTENDED text.`/etc/passwd`", f"text./etc/passwd {NO_TABLE}"),
        ("TABLE spark_catalog.default.salaries", f"spark_catalog.default.salaries {NO_TABLE}"),
        ("SELECT * FROM salaries", f"salaries {NO_TABLE}"),
        ("WITH salaries AS (SELECT * FROM salaries) SELECT * FROM salaries", f"salaries {NO_TABLE}"),
        ("SELECT * FROM salaries WHERE EXISTS (WITH salaries AS (SELECT 1) SELECT * FROM salaries)", f"salaries {NO_TABLE}"),
        ("WITH a AS (SELECT * FROM salaries), salaries AS (SELECT 1) SELECT * FROM a", f"salaries {NO_TABLE}"),
        ("SELECT * FROM IDENTIFIER('text.`/etc/' || 'passwd`')", COMMAND),
        ("SELECT IDENTIFIER('ref' || 'lect')('java.lang.System', 'getenv', 'HOME')", r"IDENTIFIER\(...\) is not allowed"),
        ("SELECT reflect('java.lang.System', 'getenv', 'HOME')", f"the function reflect {NO_FUNCTION}"),
        ("SELECT `Java_Method`('java.lang.System', 'getenv', 'HOME')", f"the function Java_Method {NO_FUNCTION}"),
        ("SELECT max(try_reflect('java.lang.System', 'getenv', 'HOME')) OVER ()", f"the function try_reflect {NO_FUNCTION}"),
        ("SELECT * FROM groups LATERAL VIEW explode(array(reflect('java.lang.System', 'getenv', 'HOME'))) t AS x", f"the function reflect {NO_FUNCTION}"),
        ("SELECT * FROM groups LATERAL VIEW mine(1) t AS x", f"the function mine {NO_FUNCTION}"),
        ("SELECT from_protobuf(group_id, 'Message', '/etc/passwd') FROM groups", f"the function from_protobuf {NO_FUNCTION}"),
        ("SELECT from_avro(group_id, '{}', map('avroSchemaUrl', '/etc/passwd')) FROM groups", f"the function from_avro {NO_FUNCTION}"),
        ("SELECT schema_of_avro('{}', map('avroSchemaUrl', '/etc/passwd'))", f"the function schema_of_avro {NO_FUNCTION}"),
        ("SELECT from_xml('<a/>', 'a INT', map('rowValidationXSDPath', '/etc/passwd'))", f"the function from_xml {NO_FUNCTION}"),
        ("SELECT schema_of_xml('<a/>', map('rowValidationXSDPath', '/etc/passwd'))", f"the function schema_of_xml {NO_FUNCTION}"),
        ("SELECT * FROM groups VERSION AS OF 1", "RelationTimeTravel is not allowed"),
        ("SHOW TABLES IN other", "UnresolvedNamespace is not allowed"),
        ("FROM groups |> UNION ALL TABLE salaries", f"salaries {NO_TABLE}"),
        ("SELECT system.session.mine(1)", f"the function system.session.mine {NO_FUNCTION}"),
        ("SELECT secret('scope', 'key')", f"the function secret {NO_FUNCTION}"),
        ("SELECT * FROM read_files('/etc/passwd')", f"the function read_files {NO_FUNCTION}"),
    ],
)  # fmt: skip
def test_what_does_more_than_read_is_refused(
    spark: SparkSession, statement: str, message: str
) -> None:
    with pytest.raises(StartUpError, match=message) as refusal:
        check_query(spark, statement, TABLES)

    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("statement", ["SELECT 1; DROP VIEW groups", ";DROP VIEW groups", ""])
def test_what_is_no_statement_is_an_error(spark: SparkSession, statement: str) -> None:
    with pytest.raises(PySparkException, match=r"PARSE_SYNTAX_ERROR|PARSE_EMPTY_STATEMENT"):
        check_query(spark, statement, TABLES)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("SELECT 'DROP VIEW groups; --' AS `delete`, 1 AS insert -- TRUNCATE", ["DROP VIEW groups; --", 1]),
        ("(SELECT 1 AS one);", [1]),
        ("VALUES (1, 'a'), (2, 'b') LIMIT 1", [1, "a"]),
        ("SELECT count(*), max(c.n) FROM (TABLE coordinator_log) CROSS JOIN (SELECT id AS n FROM range(3)) c", [6, 2]),
        ("WITH One AS (SELECT 1 AS n), two AS (SELECT n + 1 AS n FROM one) SELECT sum(n) FROM (SELECT * FROM one UNION ALL SELECT * FROM TWO)", [3]),
        ("SELECT row_number() OVER w FROM Coordinator_Log WINDOW w AS (ORDER BY event_time) ORDER BY 1 DESC LIMIT 1", [2]),
        ("SELECT word FROM coordinator_log LATERAL VIEW explode(split(group_id, 'l')) AS word ORDER BY word DESC LIMIT 1", ["ing"]),
        ("SELECT group_id, count(*) FROM coordinator_log GROUP BY ROLLUP (group_id) HAVING count(*) > 1 AND group_id IS NOT NULL", ["billing", 2]),
        ("SELECT CASE WHEN EXISTS (SELECT 1 FROM groups) THEN 1 ELSE transform(array(1), x -> x + 1)[0] END", [2]),
        ("SELECT * FROM (SELECT 1 AS a, 2 AS b) UNPIVOT (v FOR k IN (a, b)) ORDER BY v DESC LIMIT 1", ["b", 2]),
        ("SELECT * FROM (SELECT 'a' AS k, 2 AS v) PIVOT (sum(v) FOR k IN ('a')) ", [2]),
        ("SELECT t.n FROM coordinator_log l, LATERAL (SELECT length(l.group_id) AS n) t WHERE l.group_id RLIKE '^b' DISTRIBUTE BY n LIMIT 1", [7]),
        ("SELECT DISTINCT cast(event_time AS DATE) - INTERVAL 1 DAY < current_date(), bigint('7') FROM coordinator_log TABLESAMPLE (100 PERCENT)", [True, 7]),
        ("SELECT count(*) FROM coordinator_log WHERE group_id = ''" + " OR group_id = 'billing'" * 300, [2]),
        ("SELECT count(*) FROM (SELECT 1" + " UNION ALL SELECT 1" * 300 + ")", [301]),
        ("FROM coordinator_log |> WHERE group_id = 'billing' |> AGGREGATE count(*) AS n GROUP BY group_id |> SELECT n", [2]),
        ("SELECT * EXCEPT (event_time) FROM coordinator_log WITH (path = '/etc/passwd') LIMIT 1", ["billing"]),
        ("SELECT 1 EXCEPT SELECT 2 INTERSECT SELECT 2", [1]),
        ("SELECT /*+ BROADCAST(g) */ count(*) FROM coordinator_log l LEFT ANTI JOIN groups g USING (group_id)", [2]),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("tables")
def test_a_query_may_have_everything_that_reads(
    spark: SparkSession, question: str, answer: list[object]
) -> None:
    check_query(spark, question, TABLES)

    assert [[*row] for row in spark.sql(question).collect()] == [answer]


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("DESCRIBE coordinator_log", "event_time"),
        ("DESCRIBE coordinator_log event_time", "timestamp"),
        ("DESCRIBE QUERY SELECT group_id FROM groups", "group_id"),
        ("SHOW COLUMNS IN coordinator_log", "event_time"),
        ("SHOW TABLES", "coordinator_log"),
        ("EXPLAIN SELECT group_id FROM groups", "Physical Plan"),
    ],
)
@pytest.mark.usefixtures("tables")
def test_what_is_told_about_tables_and_plans(spark: SparkSession, question: str, told: str) -> None:
    check_query(spark, question, TABLES)

    assert told in str(spark.sql(question).collect())


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_the_text_of_every_view_is_a_query(spark: SparkSession, view: ViewDefinition) -> None:
    check_query(spark, view.sql(SPARK, {name: name for name in view.sources}), view.sources)
