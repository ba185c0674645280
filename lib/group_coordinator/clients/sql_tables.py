"""Delta tables and the views over them, read without Spark and without a JVM.

DataFusion's length functions accept text only: `length` casts binary values to UTF-8 and fails, `octet_length` rejects
them. In a query that counts the bytes of a binary column, such as `length(key)` of dead_letters, the argument becomes a text with
a letter for each byte.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable, QueryBuilder
from deltalake.exceptions import DeltaError

from group_coordinator.clients.as_of_time import AsOfTime
from group_coordinator.clients.errors import QueryError, TablesUnavailableError
from group_coordinator.tables.delta_errors import in_one_line, open_table
from group_coordinator.tables.roots import is_folder
from group_coordinator.tables.views.all_views import IN_PLACE_OF_LATER_TABLES, VIEWS, named_in
from group_coordinator.tables.views.definition import DATAFUSION
from group_coordinator.tables.views.labels import LABELS

_TABLE = re.compile(r"\bdead_letters\b", re.IGNORECASE)
_COLUMN = r'(?:(?:\w+|"[^"]*")\s*\.\s*)*(?:key|value|"key"|"value")'
_CALL = re.compile(
    r"'[^']*'|--[^\n]*|/\*.*?\*/"
    r"|\b(?P<function>(?:char_|character_|octet_|bit_)?length\s*\(\s*)"
    rf"(?P<column>{_COLUMN})(?=\s*\))"
    r'|"[^"]*"',
    re.IGNORECASE | re.DOTALL,
)
"""Pattern that also matches literals, comments and quoted names, so that no call is found inside them."""
_AS_LETTERS = (
    "CASE WHEN arrow_typeof({0}) LIKE '%Binary%' THEN regexp_replace(encode(arrow_cast({0}, 'Binary'), 'hex'), '..', 'x', 'g') "
    "ELSE arrow_cast({0}, 'Utf8') END"
)
"""SQL whose CASE tests the type: a column of the same name in another table may be text."""
_IN_HEADINGS = re.compile(r'CASE WHEN arrow_typeof\((.*?)\) LIKE Utf8\("%Binary%"\) .*? END')


def with_lengths_of_bytes(sql: str) -> str:
    """Rewrite the query for the engine."""
    return _CALL.sub(_rewritten, sql) if _TABLE.search(sql) else sql


def _rewritten(found: re.Match[str]) -> str:
    if found["function"] is None:
        return found[0]
    return found["function"] + _AS_LETTERS.format(found["column"])


def with_headings_restored(response: pa.Table) -> pa.Table:
    """Restore the headings that the query had before it was rewritten."""
    return response.rename_columns(
        [_IN_HEADINGS.sub(r"\1", name) for name in response.column_names]
    )


TABLES = (
    *("coordinator_log", "groups", "members", "offsets", "group_configs"),
    *("dead_letters", "denials", "writers", "topic_positions", "share_group_offsets", "topic_ids"),
    LABELS,
)
_SESSION = {
    # Lets SHOW TABLES and SHOW COLUMNS work.
    "datafusion.catalog.information_schema": "true",
    # A join of joins never ends if one side is empty (apache/datafusion#21625).
    "datafusion.optimizer.enable_join_dynamic_filter_pushdown": "false",
}
_PLAN_OF = "EXPLAIN FORMAT PGJSON\n"
_NESTED = "Error during planning: Nested EXPLAINs are not supported"
"""Error of the engine for the plan of an EXPLAIN, which runs nothing. The plan of an EXPLAIN ANALYZE is returned."""
_READING = re.compile(
    r"Aggregate|Analyze|DescribeTable|Distinct(All|On)|EmptyRelation|Filter|\w+ Join|Limit|Projection"
    r"|RecursiveQuery|Repartition|Sort|Subquery|TableScan|Union|Unnest|Values|WindowAggr"
)
"""Nodes of a plan that only reads: all other nodes write, or change the session."""
_NODE = re.compile(r'"(Node Type|Operation|Statement)": "([\w ]+)')
"""Pattern for the plan as JSON, in which a quote of the query has a backslash; a JSON parser fails on long UNIONs.

Nodes that write have one of the last two keys, which are more specific."""
_LINE = re.compile(r"(?<= at Line: )\d+")

_MISSING = re.compile(r"^Error during planning: table 'datafusion\.public\.(\w+)' not found$")
_HINTS = {
    # DataFusion computes these in nanoseconds of 64 bits: now(), date_bin, to_char, and date_trunc of an hour or more.
    r"value -?\d+ to Timestamp\(ns\)|Timestamp -?\d+ out of range": ": a row has a time before 1677 or after 2262, which this function cannot read: exclude it by WHERE",
    r"Kernel error: Json error": " (a file of the table's _delta_log is damaged: restore the table from a copy)",
    r"only supports a single SQL statement$": ": give one query at a time",
    r"non.UTF-8 data|received Binary|\(Binary": " (a binary column is not text: use encode(COLUMN, 'hex'), or "
    "TRY_CAST(COLUMN AS STRING), which is null where it is not UTF-8)",
}
"""Remedies for errors of the engine, by a pattern of the error; its own messages have none."""


def query(root: str, sql: str, as_of_time: AsOfTime | None = None) -> pa.Table:
    """Answer a SQL query (DataFusion's dialect) from the tables under a root folder, and the views over them.

    Raises TablesUnavailableError: there are no tables under the root. QueryError: the text is no query, or cannot be answered; the
    message is a single line.
    """
    text = with_lengths_of_bytes(sql)
    with session(root, sql, as_of_time) as tables:
        tables.check(text)
        return with_headings_restored(tables.sql(text))


class Session:
    """Tables at a fixed version each, without later writes."""

    def __init__(self, builder: QueryBuilder) -> None:
        self._builder = builder

    def sql(self, text: str) -> pa.Table:
        """Answer a query from the tables. Raises QueryError: it cannot be answered; the message is a single line."""
        with reported_in_one_line():
            return pa.RecordBatchReader.from_stream(self._builder.execute(text)).read_all()

    def check(self, text: str) -> None:
        """Check that the engine's plan of the text only reads. The plan runs nothing.

        Reads need no check: the engine has only the registered tables, and no function that reads files. Raises QueryError: the text is
        no query, or several; the message is a single line.
        """
        self.sql("SET datafusion.optimizer.max_passes = 0")  # the slowest part of planning
        try:
            [response] = self.sql(_PLAN_OF + text).to_pylist()
        except QueryError as error:
            # The user's own EXPLAIN runs nothing.
            if str(error) == _NESTED:
                return
            # EXPLAIN adds a line before the query.
            raise QueryError(_LINE.sub(lambda line: str(int(line[0]) - 1), str(error))) from error
        finally:
            self.sql("RESET datafusion.optimizer.max_passes")
        forbidden = [
            name
            for key, name in _NODE.findall(response["plan"])
            if key != "Node Type" or not _READING.fullmatch(name)
        ]
        if forbidden:
            raise QueryError(
                f"{forbidden[-1]} is not allowed: the tables are read-only; use SELECT, WITH, VALUES, SHOW, DESCRIBE or "
                "EXPLAIN"
            )


@contextmanager
def session(
    root: str, about: str, as_of_time: AsOfTime | None = None, computed: Collection[str] = ()
) -> Iterator[Session]:
    """Open the tables for several queries; tables and views that `about` does not name may be missing.

    computed: views that many of the queries read, whose rows are computed once and stay in memory.

    Raises TablesUnavailableError: there are no tables under the root. QueryError: they cannot be read.
    """
    tables, builder = open_tables(root), QueryBuilder(_SESSION)
    with TemporaryDirectory(prefix="group-coordinator-sql-") as scratch:
        with reported_in_one_line():
            names: Iterable[str]
            if as_of_time is None:
                names = tables
                for name, table in tables.items():
                    builder.register(name, table)
            else:
                # Compaction needs Spark's types, whose import takes longer than most queries.
                from group_coordinator.clients import time_travel  # noqa: PLC0415

                names = time_travel.register(builder, tables, as_of_time, about, scratch)
            _create_views(builder, names, named_in(about), computed)
        yield Session(builder)


@contextmanager
def reported_in_one_line(about: str = "") -> Iterator[None]:
    """Turn errors of the engine and of the tables' store into QueryError."""
    try:
        yield
    except (DeltaError, OSError, pa.ArrowException) as error:
        text = _MISSING.sub(_missing, in_one_line(error))
        hints = (hint for said, hint in _HINTS.items() if re.search(said, text))
        raise QueryError(about + text + "".join(hints)) from error


def _missing(found: re.Match[str]) -> str:
    name = found[1]
    if name in TABLES:
        return f"tables.root lacks the table {name}: `group-coordinator init` creates it"
    if name in {view.name for view in VIEWS}:
        return (
            f"tables that the view {name} reads are missing: `group-coordinator init` creates them"
        )
    return found[0]


def rows(root: str, sql: str) -> list[dict[str, Any]]:
    """Answer a query with rows as dictionaries."""
    return list(query(root, sql).to_pylist())


def open_tables(root: str) -> dict[str, DeltaTable]:
    """Existing tables by name. Raises TablesUnavailableError: none; QueryError: they cannot be read; the message is a single line."""
    if not is_folder(root):
        raise TablesUnavailableError(
            f"tables.root = {root} is the schema of a catalog, which only Spark reads: use `group-coordinator-job "
            "sql QUERY` (jobs/ask_tables.py), or the catalog's own SQL"
        )
    paths = {name: f"{root.rstrip('/')}/{name}" for name in TABLES}
    place, found = f"tables.root = {root}: ", {}
    for name, path in paths.items():
        with reported_in_one_line(place):
            exists = DeltaTable.is_deltatable(path)
        if exists:
            with reported_in_one_line(f"{place}{name}: "):
                found[name] = open_table(path)
    if not found:
        raise TablesUnavailableError(
            f"tables.root = {root} has no tables: run `group-coordinator init`"
        )
    return found


def _create_views(
    builder: QueryBuilder, tables: Iterable[str], wanted: frozenset[str], computed: Collection[str]
) -> None:
    # Only the views of the query are created, if their tables exist: an earlier version may have created fewer.
    names = {**IN_PLACE_OF_LATER_TABLES, **{name: name for name in tables}}
    for view in VIEWS:
        # VIEWS are in the order of their dependencies.
        if view.name in wanted and view.sources <= names.keys():
            kind = "TABLE" if view.name in computed else "VIEW"
            builder.execute(f"CREATE {kind} {view.name} AS {view.sql(DATAFUSION, names)}")
            names[view.name] = view.name
