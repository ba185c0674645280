"""`group-coordinator sql`: tables for people, CSV and JSON for programs."""

from __future__ import annotations

import csv
import json
from io import StringIO
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from group_coordinator.cli.main import main
from tests.unit.cli.test_sql import sql


def test_a_table_for_people(tables: Path) -> None:
    result = sql("SELECT * FROM offsets ORDER BY group_id", "--tables", str(tables))

    assert result.exit_code == 0
    assert [line.rstrip() for line in result.stdout.splitlines()] == [
        "group_id   committed_offset   expires_at                 topics                 value",
        "─────────────────────────────────────────────────────────────────────────────────────",
        'billing                  42   2024-01-02 03:04:05.678Z   ["orders","refunds"]   AP8=',
        "café",
        "",
        "2 rows",
    ]


def test_a_pipe_gets_whole_lines(tables: Path) -> None:
    query = "SELECT repeat('x', 500) AS long, group_id FROM offsets"

    result = sql(query, "--tables", str(tables))

    assert "x" * 500 + "   billing" in result.stdout
    assert "\x1b" not in result.stdout


def test_a_name_from_outside_stays_in_its_cell(tables: Path) -> None:
    query = "SELECT 'a' || chr(10) || chr(27) || '[2J' AS group_id, '料金' AS topic, 1 AS lag"

    result = sql(query, "--tables", str(tables))

    assert result.stdout.splitlines()[:3] == [
        "group_id       topic   lag",
        "──────────────────────────",
        r"a\x0a\x1b[2J   料金      1",
    ]


ODD_NAMES = (
    "SELECT * FROM (VALUES ('a' || chr(10) || 'b'), ('a\\nb'), ('a\\x0ab'), ('\\U0001f600'), ('a  b'), ('u' || chr(776)), (chr(8238) || 'nimda'), ('a' || chr(8232)), "
    "(' a'), ('a '), ('a' || chr(160)), (chr(155)), ('😀')) AS names(group_id)"
)


def test_different_names_look_different(tables: Path) -> None:
    lines = sql(ODD_NAMES, "--tables", str(tables)).stdout.splitlines()

    assert lines[2:-2] == [
        *(r"a\x0ab", r"a\nb", r"a\\x0ab", r"\\U0001f600", r"a \x20b", r"u\u0308", r"\u202enimda"),
        *(r"a\u2028", r"\x20a", r"a\x20", r"a\xa0", r"\x9b", "😀"),
    ]


def test_a_heading_does_nothing_to_a_terminal(tables: Path) -> None:
    result = sql('SELECT 1 AS "a\x1b[2J"', "--tables", str(tables))

    assert result.stdout.splitlines()[0] == r"a\x1b[2J"


@pytest.mark.parametrize(
    ("kind", "lines"),
    [
        (
            "table",
            [
                "name         topics",
                "-" * 38,
                r'\U0001f600   ["\ufffd","\ud83d\ude00"]',
                "",
                "1 row",
            ],
        ),
        ("csv", ["name,topics", '\\U0001f600,"[""\\ufffd"",""\\U0001f600""]"']),
    ],
)
def test_what_the_encoding_lacks_is_escaped(tables: Path, kind: str, lines: list[str]) -> None:
    query = "SELECT '😀' AS name, make_array(chr(65533), '😀') AS topics"
    arguments = ["sql", query, "--tables", str(tables), "--format", kind]

    result = CliRunner(charset="latin-1").invoke(main, arguments)

    assert (result.exit_code, result.stderr) == (0, "")
    assert [line.rstrip() for line in result.stdout.splitlines()] == lines


def test_json_with_escapes_is_the_same_json(tables: Path) -> None:
    query = "SELECT chr(8238) || 'é😀' || chr(155) AS name"
    arguments = ["sql", query, "--tables", str(tables), "--format", "json"]

    result = CliRunner(charset="latin-1").invoke(main, arguments)

    assert result.stdout == '[\n  {\n    "name": "\\u202eé\\ud83d\\ude00\\u009b"\n  }\n]\n'
    assert json.loads(result.stdout) == [{"name": "\u202eé😀\x9b"}]


def test_a_program_gets_every_character_of_csv(tables: Path) -> None:
    result = sql(ODD_NAMES, "--tables", str(tables), "--format", "csv")

    assert [*csv.reader(StringIO(result.stdout, newline=""))] == [
        *(["group_id"], ["a\nb"], [r"a\nb"], [r"a\x0ab"], [r"\U0001f600"], ["a  b"], ["u\u0308"]),
        *(["\u202enimda"], ["a\u2028"], [" a"], ["a "], ["a\xa0"], ["\x9b"], ["😀"]),
    ]


def test_a_table_of_thousands_of_rows_is_aligned_as_a_whole(tables: Path) -> None:
    query = "SELECT value AS number, 'x' AS text FROM generate_series(1, 3000) ORDER BY value"

    lines = sql(query, "--tables", str(tables)).stdout.splitlines()

    assert [lines[0], lines[2], lines[3_001], *lines[3_002:]] == [
        "number   text",
        "     1   x",
        "  3000   x",
        "",
        "3000 rows",
    ]


def test_a_narrow_terminal_gets_a_line_a_value(
    tables: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "40")

    result = sql("SELECT * FROM offsets LIMIT 1", "--tables", str(tables))

    assert click.unstyle(result.stdout).splitlines() == [
        "row 1 ──────────────────────────────────",
        "group_id         billing",
        "committed_offset 42",
        "expires_at       2024-01-02 03:04:05.678Z",
        'topics           ["orders","refunds"]',
        "value            AP8=",
        "",
        "1 row",
    ]


def test_csv(tables: Path) -> None:
    result = sql("SELECT * FROM offsets", "--tables", str(tables), "--format", "csv")

    assert result.stdout.splitlines() == [
        "group_id,committed_offset,expires_at,topics,value",
        'billing,42,2024-01-02 03:04:05.678Z,"[""orders"",""refunds""]",AP8=',
        "café,,,,",
    ]


def test_json(tables: Path) -> None:
    result = sql("SELECT * FROM offsets LIMIT 1", "--tables", str(tables), "--format", "json")

    assert result.stdout == (
        "[\n"
        "  {\n"
        '    "group_id": "billing",\n'
        '    "committed_offset": 42,\n'
        '    "expires_at": "2024-01-02T03:04:05.678000Z",\n'
        '    "topics": [\n'
        '      "orders",\n'
        '      "refunds"\n'
        "    ],\n"
        '    "value": "AP8="\n'
        "  }\n"
        "]\n"
    )


def test_no_rows(tables: Path) -> None:
    query = "SELECT group_id FROM offsets WHERE group_id = 'unknown'"

    assert sql(query, "--tables", str(tables)).stdout.splitlines()[-1] == "0 rows"
    assert sql(query, "--tables", str(tables), "--format", "json").stdout == "[]\n"
    assert sql(query, "--tables", str(tables), "--format", "csv").stdout == "group_id\n"


def test_time_until_expiry(tables: Path) -> None:
    query = "SELECT expires_at - to_timestamp('2024-01-01T00:00:00Z') AS left FROM offsets LIMIT 1"

    result = sql(query, "--tables", str(tables), "--format", "csv")

    assert result.stdout.splitlines() == ["left", '"1 day, 3:04:05.678000"']
