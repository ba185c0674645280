"""The command's file, its refusals, and the rows that it replaces."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from deltalake import DeltaTable

from group_coordinator.cli.main import main
from tests.support.claims import claimed_by_mirror
from tests.support.group_history import asked, tables_of

ROWS = "SELECT * FROM group_labels ORDER BY cluster_id, pattern"


def labels(root: Path, text: bytes | str, *more: str) -> Result:
    file = root / "labels.csv"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    arguments = ["labels", "--input", str(file), "--tables", str(root), *more]
    return CliRunner().invoke(main, arguments)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tables_of(tmp_path)


def test_a_file_becomes_the_labels_of_a_cluster_in_one_commit(root: Path) -> None:
    text = (
        "pattern, owner ,tier,objective_seconds\n"
        'payments-*,"Payments, Europe",gold,60\n'
        "\n"
        "*-test,,,\n"
        "*, platform,,3600\n"
    )

    done = labels(root, text, "--cluster", "eu-1")

    assert (done.exit_code, done.stdout) == (0, "cluster eu-1: 3 patterns in group_labels\n")
    assert asked(root, ROWS) == [
        ("eu-1", "*", "platform", None, 3_600),
        ("eu-1", "*-test", None, None, None),
        ("eu-1", "payments-*", "Payments, Europe", "gold", 60),
    ]
    assert DeltaTable(root / "group_labels").version() == 1


def test_a_cluster_that_no_job_and_no_mirror_has_written_is_a_warning(root: Path) -> None:
    text = "pattern,owner\na,one\n"
    assert labels(root, text, "--cluster", "eu-1").stderr == ""
    claimed_by_mirror(root, "eu-1")

    assert labels(root, text, "--cluster", "eu-1").stderr == ""
    mistyped = labels(root, text, "--cluster", "eu-l")

    assert (mistyped.exit_code, mistyped.stderr) == (
        0,
        "WARN no job or mirror has written cluster eu-l: the tables have eu-1; see if --cluster is right\n",
    )


def test_the_next_file_replaces_only_its_cluster(root: Path) -> None:
    assert labels(root, "pattern,owner\na,one\n", "--cluster", "it's").exit_code == 0
    assert labels(root, "pattern,owner\nb,two\n", "--cluster", "eu-2").exit_code == 0
    # A byte order mark, as spreadsheets write it.
    assert labels(root, b"\xef\xbb\xbfowner,pattern\r\nthree,c\r\n", "--cluster", "it's")
    assert asked(root, ROWS) == [
        ("eu-2", "b", "two", None, None),
        ("it's", "c", "three", None, None),
    ]

    assert labels(root, "pattern,owner\n", "--set", "cluster.id=eu-2").exit_code == 0
    assert asked(root, ROWS) == [("it's", "c", "three", None, None)]


HEADER = "pattern,owner,tier,objective_seconds\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", " is empty: begin it with the line pattern,owner,tier,objective_seconds"),
        ("pattern;owner\n", ":1: 'pattern;owner' is not a column: the first line has some of"),
        ("pattern,owner,owner\n", ":1: the column owner is there twice: remove one"),
        ("owner,tier\nme,gold\n", ":1: the column pattern is missing: add it"),
        (HEADER + "a,me\n", ":2: 2 cells, but 4 columns: put a cell with a comma between quotes"),
        (HEADER + "a,me,,\n,me,,\n", ":3: pattern is empty: give a group id, or * for all groups"),
        (HEADER + "a*b*c*,me,,\n", ":2: pattern = 'a*b*c*' has more than 2 stars: write several"),
        (HEADER + "a,me,,\nb,me,,\na,you,,\n", ":4: pattern = 'a' is in "),
        (HEADER + "a,me,,0\n", ":2: objective_seconds = '0' is not a whole number from 1 to 2147"),
        (HEADER + "a,me,,5m\n", ":2: objective_seconds = '5m' is not a whole number from 1 to 2"),
        (HEADER + 'a,"me,,5\n', ": unexpected end of data: give a CSV file in UTF-8"),
        (b"pattern\n\xff\n", ": 'utf-8' codec can't decode byte 0xff in position 8"),
    ],
)
def test_a_fault_in_the_file_names_its_place_and_changes_nothing(
    text: bytes | str, message: str, root: Path
) -> None:
    assert labels(root, HEADER + "before,me,,\n").exit_code == 0

    refused = labels(root, text)

    assert refused.exit_code == 1
    assert f"Error: {root}/labels.csv{message}" in refused.stderr
    assert DeltaTable(root / "group_labels").version() == 1


def test_tables_of_an_earlier_version_are_named_with_the_way_out(tmp_path: Path) -> None:
    refused = labels(tmp_path, HEADER)

    assert refused.exit_code == 1
    assert refused.stderr == (
        f"Error: tables.root = {tmp_path} has no table group_labels: run `group-coordinator init`, or without the topics "
        "`group-coordinator-job create-tables`\n"
    )
