from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner, Result
from deltalake import write_deltalake

from group_coordinator.cli.sql import command
from group_coordinator.clients.sql_tables import TABLES
from group_coordinator.tables.delta_errors import FEATURES
from group_coordinator.tables.state_tables import GROUPS
from group_coordinator.tables.views.all_views import VIEWS
from tests.support.catalog_managed import hand_to_a_catalog

YEAR_9999 = """arrow_cast(253402300799999000, 'Timestamp(Microsecond, Some("UTC"))')"""
TOO_FAR = "a time before 1677 or after 2262, which this function cannot read: exclude it by WHERE"


def sql(query: str, *arguments: str) -> Result:
    return CliRunner().invoke(command, [query, *arguments])


def test_the_help_names_all_tables_and_views() -> None:
    words = CliRunner().invoke(command, ["--help"]).stdout.replace(",", " ").split()

    assert {*TABLES, *(view.name for view in VIEWS)} - set(words) == set()


REFUSED = (
    "is not allowed: the tables are read-only; use SELECT, WITH, VALUES, SHOW, DESCRIBE or EXPLAIN"
)


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("DROP TABLE offsets", f"DropTable {REFUSED}"),
        ("CREATE VIEW mine AS SELECT 1", f"CreateView {REFUSED}"),
        ("SELECT * INTO mine FROM offsets", f"CreateMemoryTable {REFUSED}"),
        ("CREATE FUNCTION f() RETURNS INT RETURN 1", f"CreateFunction {REFUSED}"),
        ("INSERT INTO offsets (group_id) VALUES ('g')", f"Insert Into {REFUSED}"),
        ("DELETE FROM offsets", f"Delete {REFUSED}"),
        ("UPDATE offsets SET group_id = 'g'", f"Update {REFUSED}"),
        ("TRUNCATE offsets", f"Truncate {REFUSED}"),
        ("SET datafusion.execution.batch_size = 1", f"SetVariable {REFUSED}"),
        ("RESET datafusion.execution.batch_size", f"ResetVariable {REFUSED}"),
        ("PREPARE later AS SELECT 1", f"Prepare {REFUSED}"),
        ("EXECUTE later", f"Execute {REFUSED}"),
        ("COMMIT", f"TransactionEnd {REFUSED}"),
        ("copy offsets TO '{tables}/copy.csv'", f"CopyTo {REFUSED}"),
        ("-- all\n/* of\n/* it */ */ copy offsets TO '{tables}/copy.csv'", f"CopyTo {REFUSED}"),
        ("\u00a0\u2003COPY offsets TO '{tables}/copy.csv'", f"CopyTo {REFUSED}"),
        ("COPY/**/offsets TO '{tables}/copy.csv'", f"CopyTo {REFUSED}"),
        ("explain analyze /* it */ verbose COPY offsets TO '{tables}/copy.csv'", f"CopyTo {REFUSED}"),
        ("EXPLAIN (ANALYZE, VERBOSE) COPY offsets TO '{tables}/copy.csv'", f"CopyTo {REFUSED}"),
        ("EXPLAIN ANALYZE CREATE EXTERNAL TABLE t STORED AS CSV LOCATION '/etc/passwd'", f"CreateExternalTable {REFUSED}"),
        (";COPY offsets TO '{tables}/copy.csv'", "found: ; at Line: 1"),
        (";CREATE EXTERNAL TABLE t STORED AS CSV LOCATION '/etc/passwd'", "found: ; at Line: 1"),
        ("SELECT 1; COPY offsets TO '{tables}/copy.csv'", "a single SQL statement: give one query at a time"),
        ("SELECT 1;; SELECT 2", "a single SQL statement: give one query at a time"),
        ("WITH t AS (COPY offsets TO '{tables}/copy.csv') SELECT 1", "found: COPY at Line: 1"),
        ("WITH t AS (DELETE FROM offsets) SELECT 1", "not implemented"),
        ("WITH t AS (SELECT 'g' AS group_id) INSERT INTO offsets SELECT * FROM t", "not implemented"),
        ("(COPY offsets TO '{tables}/copy.csv')", "found: COPY at Line: 1"),
        ("ANALYZE COPY offsets TO '{tables}/copy.csv'", "ParserError"),
        ("FORMAT TREE COPY offsets TO '{tables}/copy.csv'", "found: FORMAT at Line: 1"),
        ("SELECT 1) TO '{tables}/copy.csv' --", "ParserError"),
        ("SELECT * FROM '/etc/passwd'", "table 'datafusion.public./etc/passwd' not found"),
        ('SELECT * FROM "/etc/passwd"', "table 'datafusion.public./etc/passwd' not found"),
        ("SELECT * FROM '{tables}/offsets'", "/offsets' not found"),
        ("SELECT * FROM read_csv('/etc/passwd')", "table function 'read_csv' not found"),
        ('COPY "Error during planning: Nested EXPLAINs are not supported" TO \'{tables}/copy.csv\'', "not found"),
    ],
)  # fmt: skip
def test_what_is_no_query_is_refused(tables: Path, statement: str, message: str) -> None:
    result = sql(statement.format(tables=tables), "--tables", str(tables))

    assert (result.exit_code, result.stdout) == (1, "")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert [entry.name for entry in tables.iterdir()] == ["offsets"]


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("/* DROP */ SELECT 'DELETE' AS \"set\" -- TRUNCATE", ["set", "DELETE"]),
        ("SELECT ';COPY x TO y' AS copy, '--' AS \"a;b\";", ["copy,a;b", ";COPY x TO y,--"]),
        ("\u00a0\n(SELECT 1 AS one)", ["one", "1"]),
        ("VALUES (2), (1) ORDER BY 1", ["column1", "1", "2"]),
        ("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3) SELECT i FROM n", ["i", "1", "2", "3"]),
        ("SELECT group_id, row_number() OVER (ORDER BY group_id) AS i FROM offsets QUALIFY i = 1", ["group_id,i", "billing,1"]),
        ("SELECT max(value) AS n FROM range(1, 4) WHERE value IN (SELECT value FROM generate_series(1, 9))", ["n", "3"]),
        ("SELECT DISTINCT unnest(topics) AS t FROM offsets EXCEPT SELECT 'orders'", ["t", "refunds"]),
        ("-- as the pages have them\nSELECT count(*) AS offsets FROM offsets", ["offsets", "2"]),
        ("SELECT count(*) AS n FROM offsets a FULL JOIN offsets b USING (group_id)", ["n", "2"]),
        ("SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'", ["table_name", "offsets"]),
        ("""SELECT '"Operation": "Drop"' AS "n" """, ["n", '"""Operation"": ""Drop"""']),
        (" UNION ALL ".join(["SELECT 1 AS n"] * 700), ["n", *("1" * 700)]),
        ("SHOW datafusion.optimizer.max_passes", ["name,value", "datafusion.optimizer.max_passes,3"]),
    ],
)  # fmt: skip
def test_a_query_may_have_every_word_in_it(tables: Path, query: str, answer: list[str]) -> None:
    result = sql(query, "--tables", str(tables), "--format", "csv")

    assert result.stderr == ""
    assert result.stdout.splitlines() == answer


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("SHOW COLUMNS FROM offsets", "committed_offset"),
        ("SHOW ALL", "datafusion.execution.batch_size"),
        ("DESCRIBE offsets", "committed_offset"),
        ("DESC offsets", "committed_offset"),
        ("EXPLAIN SELECT group_id FROM offsets", "TableScan: offsets"),
        ("EXPLAIN VERBOSE SELECT group_id FROM offsets", "TableScan: offsets"),
        ("-- why\nEXPLAIN FORMAT INDENT SELECT group_id FROM offsets", "TableScan: offsets"),
        ("EXPLAIN ANALYZE SELECT group_id FROM offsets", "output_rows=2"),
        ("EXPLAIN COPY offsets TO '{tables}/copy.csv'", "CopyTo: "),
        ("EXPLAIN EXPLAIN ANALYZE COPY offsets TO '{tables}/copy.csv'", "CopyTo: "),
        ("SHOW TABLES", "datafusion      public               offsets       BASE TABLE"),
    ],
)
def test_what_is_told_about_tables_and_plans(tables: Path, query: str, told: str) -> None:
    result = sql(query.format(tables=tables), "--tables", str(tables))

    assert told in result.output
    assert [entry.name for entry in tables.iterdir()] == ["offsets"]


def test_only_these_functions_make_tables(tables: Path) -> None:
    query = "SELECT DISTINCT routine_name FROM information_schema.routines WHERE function_type = 'TABLE' ORDER BY 1"

    result = sql(query, "--tables", str(tables), "--format", "csv")

    assert result.stdout.splitlines() == ["routine_name", "generate_series", "range"]


@pytest.fixture
def letters(tables: Path) -> Path:
    """dead_letters with bytes that are no UTF-8, and a log whose columns of the same names are texts."""
    bytes_ = {
        "reason": ["a", "b", "c"],
        "key": pa.array([b"\xff\x00\xfe", "é".encode(), None], pa.binary()),
        "value": pa.array([b"", b"\n", b"\x80"], pa.binary()),
    }
    write_deltalake(str(tables / "dead_letters"), pa.table(bytes_))
    log = {"reason": ["a", "b"], "key": ["é", "ab"], "value": ["ééé", None]}
    write_deltalake(str(tables / "coordinator_log"), pa.table(log))
    return tables


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (
            "SELECT length(key), octet_length(key), bit_length(value) FROM dead_letters ORDER BY reason",
            [
                "length(dead_letters.key),octet_length(dead_letters.key),bit_length(dead_letters.value)",
                *("3,3,0", "2,2,8", ",,8"),
            ],
        ),
        ('SELECT reason FROM dead_letters d WHERE CHAR_LENGTH ( d."key" ) > 2', ["reason", "a"]),
        (
            """SELECT length(d.key) AS bytes, length(l.key) AS letters, octet_length(l.value) AS octets
            FROM dead_letters AS d JOIN coordinator_log AS l ON d.reason = l.reason ORDER BY d.reason""",
            ["bytes,letters,octets", "3,1,6", "2,2,"],
        ),
        (
            "SELECT sum(character_length(value)) AS s, 'length(key)' AS \"length(key)\" FROM dead_letters -- length(key)",
            ["s,length(key)", "2,length(key)"],
        ),
        (
            "SELECT encode(key, 'hex') AS k FROM dead_letters WHERE key = X'ff00fe' AND length(reason) = 1",
            ["k", "ff00fe"],
        ),
    ],
)
def test_lengths_of_bytes(letters: Path, question: str, answer: list[str]) -> None:
    result = sql(question, "--tables", str(letters), "--format", "csv")

    assert result.stderr == ""
    assert result.stdout.splitlines() == answer


@pytest.mark.parametrize(
    "question",
    [
        "SELECT left(key, 1) FROM dead_letters",
        "SELECT substr(key, 1, 2) FROM dead_letters",
        "SELECT lower(key) FROM dead_letters",
        "SELECT reason FROM dead_letters WHERE key LIKE 'a'",
    ],
)
def test_what_bytes_cannot_be_asked_says_what_they_can(letters: Path, question: str) -> None:
    result = sql(question, "--tables", str(letters))

    assert result.exit_code == 1
    assert result.stderr.count("\n") == 1
    assert "(a binary column is not text: use encode(COLUMN, 'hex')," in result.stderr


def test_the_root_may_be_a_setting(tables: Path) -> None:
    result = sql("SELECT count(*) FROM offsets", "--set", f"tables.root={tables}")

    assert result.exit_code == 0


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (
            "SELECT nonsense FROM offsets",
            "Error: Schema error: No field named nonsense. Valid fields are offsets.group_id,",
        ),
        ("SELEC 1", "Error: SQL error: ParserError("),
        ("SELECT * FROM nonsense", "table 'datafusion.public.nonsense' not found\n"),
        (
            "SELECT * FROM denials",
            "Error: tables.root lacks the table denials: `group-coordinator init` creates it\n",
        ),
        (
            "SELECT * FROM lag",
            "Error: tables that the view lag reads are missing: `group-coordinator init` creates them\n",
        ),
        ("SELECT 1\nFROM offsets\nWHERE )", "found: ) at Line: 3, Column: 7"),
        ("", "Error: SQL error: ParserError("),
        ("SELECT 1/0", "Error: "),
        (f"SELECT date_trunc('day', {YEAR_9999})", TOO_FAR),
        (f"SELECT now() - {YEAR_9999}", TOO_FAR),
    ],
)
def test_a_wrong_query_is_one_line(tables: Path, query: str, message: str) -> None:
    result = sql(query, "--tables", str(tables))

    assert result.exit_code == 1
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


def test_no_tables(tmp_path: Path) -> None:
    result = sql("SELECT 1", "--tables", str(tmp_path))

    assert result.exit_code == 1
    assert result.stderr == (
        f"Error: tables.root = {tmp_path} has no tables: run `group-coordinator init`\n"
    )


def test_a_storage_that_cannot_be_reached_is_told() -> None:
    result = sql("SELECT 1", "--tables", "abfss://nowhere")

    assert (result.exit_code, result.stderr) == (
        1,
        "Error: tables.root = abfss://nowhere: Generic MicrosoftAzure error: Account must be specified\n",
    )


def test_a_damaged_table_is_told(tables: Path) -> None:
    (tables / "offsets" / "_delta_log" / "00000000000000000000.json").write_text("{nonsense")

    result = sql("SELECT 1", "--tables", str(tables))

    assert result.exit_code == 1
    assert result.stderr.startswith(
        f"Error: tables.root = {tables}: offsets: Kernel error: Json error: "
    )
    assert result.stderr.endswith(
        " (a file of the table's _delta_log is damaged: restore the table from a copy)\n"
    )
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("feature", sorted(FEATURES))
def test_a_folder_whose_tables_a_catalog_manages_is_named(tmp_path: Path, feature: str) -> None:
    GROUPS.create_on_disk(tmp_path / "groups")
    hand_to_a_catalog(tmp_path / "groups", feature)

    result = sql("SELECT 1", "--tables", str(tmp_path))

    assert result.exit_code == 1
    assert result.stderr == (
        f"Error: tables.root = {tmp_path}: groups: {tmp_path}/groups is a catalog-managed Delta table, which only "
        "Spark opens, and only by its name: set tables.root = catalog.schema, and query by "
        "`group-coordinator-job`\n"
    )


def test_a_catalog_is_asked_elsewhere() -> None:
    result = sql("SELECT 1", "--tables", "main.coordinator")

    assert result.exit_code == 1
    assert result.stderr == (
        "Error: tables.root = main.coordinator is the schema of a catalog, which only Spark reads: use "
        "`group-coordinator-job sql QUERY` (jobs/ask_tables.py), or the catalog's own SQL\n"
    )
