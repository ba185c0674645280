"""Answers that go into files, and answers for an earlier time."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from pyarrow import parquet

from group_coordinator.cli.sql import command
from tests.support.group_history import GroupHistory, tables_of

QUERY = "SELECT topic, `partition`, committed_offset, commit_timestamp FROM offsets ORDER BY topic"


@pytest.fixture
def tables(tmp_path: Path) -> str:
    group = GroupHistory("billing")
    group.commit({"orders": {0: 41}})
    group.sleep(60_000)
    group.commit({"orders": {0: 42}, "refunds": {1: 7}})
    return str(tables_of(tmp_path / "tables", group))


def sql(tables: str, *arguments: str) -> Result:
    return CliRunner().invoke(command, [*arguments, "--tables", tables])


def test_a_file_of_csv(tables: str, tmp_path: Path) -> None:
    file = tmp_path / "offsets.csv"

    result = sql(tables, QUERY, "--output", "csv", str(file))

    assert (result.exit_code, result.stdout) == (0, "")
    assert file.read_text().splitlines() == [
        "topic,partition,committed_offset,commit_timestamp",
        "orders,0,42,1970-01-01 00:01:00.000Z",
        "refunds,1,7,1970-01-01 00:01:00.000Z",
    ]


def test_a_file_of_json(tables: str, tmp_path: Path) -> None:
    file = tmp_path / "offsets.json"

    sql(tables, "SELECT topic FROM offsets ORDER BY topic LIMIT 1", "--output", "json", str(file))

    assert file.read_text() == '[\n  {\n    "topic": "orders"\n  }\n]\n'


def test_a_table_in_a_file_is_as_wide_as_it_is(tables: str, tmp_path: Path) -> None:
    file = tmp_path / "offsets.txt"

    sql(tables, "--output", "table", str(file), "SELECT repeat('x', 300) AS long, 1 AS one")

    assert [line.rstrip() for line in file.read_text().splitlines()] == [
        "long" + " " * 296 + "   one",
        "─" * 306,
        "x" * 300 + "     1",
        "",
        "1 row",
    ]


def test_parquet_keeps_types_and_lists(tables: str, tmp_path: Path) -> None:
    file = tmp_path / "offsets.parquet"
    query = (
        "SELECT o.topic, o.committed_offset, o.commit_timestamp, g.protected_topics, g.resolved_regexes "
        "FROM offsets o JOIN groups g ON g.group_id = o.group_id ORDER BY topic"
    )

    result = sql(tables, query, "--output", "parquet", str(file))

    assert result.exit_code == 0
    found = parquet.read_table(file)
    assert found.column("committed_offset").to_pylist() == [42, 7]
    assert str(found.schema.field("commit_timestamp").type) == "timestamp[us, tz=UTC]"
    assert found.column("protected_topics").to_pylist() == [[], []]


def test_a_file_that_cannot_be_written_is_named(tables: str, tmp_path: Path) -> None:
    file = tmp_path / "nowhere" / "offsets.csv"

    result = sql(tables, QUERY, "--output", "csv", str(file))

    assert result.exit_code == 1
    assert result.stderr == f"Error: Could not open file '{file}': No such file or directory\n"


def test_a_file_has_one_format(tables: str, tmp_path: Path) -> None:
    file = tmp_path / "offsets.json"

    done = sql(tables, QUERY, "--format", "csv", "--output", "json", str(file))

    assert (done.exit_code, file.exists()) == (2, False)
    assert (
        f"--format sets the format of printed results, but --output writes {file} as json: remove one of them"
        in done.stderr
    )


def test_a_wrong_query_leaves_a_file_as_it_is(tables: str, tmp_path: Path) -> None:
    file = tmp_path / "offsets.csv"
    file.write_text("before")

    assert sql(tables, "SELECT nonsense FROM offsets", "--output", "csv", str(file)).exit_code == 1
    assert file.read_text() == "before"


TWICE = (
    "SELECT o.topic, g.group_id, o.group_id FROM offsets o JOIN groups g ON g.group_id = o.group_id"
)


@pytest.mark.parametrize("kind", ["json", "parquet"])
def test_columns_of_one_name_are_refused(tables: str, tmp_path: Path, kind: str) -> None:
    file = tmp_path / "offsets"
    file.write_text("before")

    result = sql(tables, TWICE, "--output", kind, str(file))

    assert (result.exit_code, result.stderr) == (
        1,
        "Error: the result has several columns named group_id: name them with AS\n",
    )
    assert file.read_text() == "before"


def test_columns_of_one_name_may_stand_side_by_side(tables: str) -> None:
    result = sql(tables, f"{TWICE} ORDER BY topic LIMIT 1", "--format", "csv")

    assert result.stdout == "topic,group_id,group_id\norders,billing,billing\n"


LATE = "SELECT to_timestamp_millis(253402300800000) AS late"


@pytest.mark.parametrize("kind", ["csv", "json", "table"])
def test_a_time_that_python_has_not(tables: str, tmp_path: Path, kind: str) -> None:
    file = tmp_path / "late"
    file.write_text("before")

    printed = sql(tables, LATE, "--format", kind)
    written = sql(tables, LATE, "--output", kind, str(file))

    assert (printed.exit_code, printed.stdout) == (1, "")
    assert printed.stderr.startswith(
        "Error: column late has a value that cannot be shown, such as a time beyond the year 9999 ("
    )
    assert printed.stderr.endswith("): CAST it AS STRING\n")
    assert written.stderr == printed.stderr
    assert file.read_text() == "before"


def test_such_a_time_as_a_text(tables: str) -> None:
    result = sql(tables, LATE.replace(" AS late", "::STRING AS late"), "--format", "csv")

    assert result.stdout == "late\n+10000-01-01T00:00:00\n"


def test_a_type_that_parquet_has_not(tables: str, tmp_path: Path) -> None:
    file = tmp_path / "month.parquet"
    file.write_text("before")

    result = sql(tables, "SELECT INTERVAL '1' MONTH AS month", "--output", "parquet", str(file))

    assert result.exit_code == 1
    assert result.stderr.startswith("Error: Parquet lacks a type of the result (")
    assert result.stderr.endswith("): CAST the column AS STRING\n")
    assert file.read_text() == "before"


@pytest.mark.parametrize(
    "time", ["1970-01-01T00:00:59.999Z", "1970-01-01 00:00:59", "1970-01-01T02:00:00+02:00"]
)
def test_an_earlier_time(tables: str, time: str) -> None:
    result = sql(tables, QUERY, "--as-of", time, "--format", "csv")

    assert result.stdout.splitlines()[1:] == ["orders,0,41,1970-01-01 00:00:00.000Z"]


def test_a_time_that_no_clock_will_show(tables: str) -> None:
    assert sql(tables, QUERY, "--as-of", "9999-12-31").stdout.endswith("2 rows\n")


def test_a_time_that_is_none(tables: str) -> None:
    result = sql(tables, QUERY, "--as-of", "yesterday")

    assert result.exit_code == 2
    assert (
        "Invalid value for '--as-of': 'yesterday' is not a time: give one such as 2024-01-02T03:04:05Z or "
        "2024-01-02 03:04 (UTC)" in result.stderr
    )
