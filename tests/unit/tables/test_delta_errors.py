"""Errors of the deltalake package where the environment asks Rust for backtraces: users read sentences all the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from group_coordinator.tables.delta_errors import in_one_line

WRITE = """
import sys
from deltalake import DeltaTable
from group_coordinator.tables.append import write_errors
with write_errors(sys.argv[1]):
    DeltaTable(sys.argv[1])
"""
SQL = """
import sys
from pathlib import Path
from group_coordinator.cli.main import main
main(["sql", "SELECT 1", "--set", f"tables.root={Path(sys.argv[1]).parent}"])
"""


_ASKED = "Generic S3 error: Error performing list request: Error performing GET http://127.0.0.1:9/b?list-type=2&prefix=t%2F in 5ms"
_REFUSED = "tcp connect error: Connection refused (os error 111)"
_DOCUMENT = """<?xml version="1.0" encoding="UTF-8"?>
<Error><Code>{code}</Code><Message>{said}</Message><RequestId>GW4</RequestId><CanonicalRequestBytes>47 45 54</CanonicalRequestBytes></Error>"""
_KEY = "check the key (fs.s3a.access.key, or AWS_ACCESS_KEY_ID) and its rights in the bucket"


def of_s3(status: str, code: str, said: str) -> str:
    document = _DOCUMENT.format(code=code, said=said)
    return f"{_ASKED} - Server returned non-2xx status code: {status}: {document}\n\n"


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    log = tmp_path / "groups" / "_delta_log"
    log.mkdir(parents=True)
    (log / "00000000000000000000.json").write_text("{damaged\n")
    return log.parent


def last_words(program: str, folder: Path) -> list[str]:
    """What is on standard error, in a process of its own: Rust looks at the variable once."""
    ended = subprocess.run(  # noqa: S603 - a fixed program
        [sys.executable, "-c", program, str(folder)],
        env={**os.environ, "RUST_BACKTRACE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    return ended.stderr.splitlines()


def test_a_table_that_cannot_be_written(damaged: Path) -> None:
    assert last_words(WRITE, damaged)[-1] == (
        f"group_coordinator.tables.append.TableWriteError: {damaged} cannot be written: "
        "Kernel error: Json error: Encountered unexpected 'd' whilst parsing object"
    )


def test_tables_that_cannot_be_read(damaged: Path) -> None:
    said = (
        f"Error: tables.root = {damaged.parent}: {damaged.name}: Kernel error: Json error: Encountered unexpected 'd' whilst "
        "parsing object (a file of the table's _delta_log is damaged: restore the table from a copy)"
    )
    assert last_words(SQL, damaged) == [said]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "OSError"),
        ("no field\nvalid fields are a.", "no field valid fields are a."),
        ("a\n   0: std::backtrace\n             at lib.rs:1:2\n  12: clone3\n", "a"),
        ("a\nstack backtrace:\n   0: <unknown>", "a"),
        ("away\n   \x1b[31m↳\x1b[0m refused", "away: refused"),
        ("10: 0: is no call", "10: 0: is no call"),
        (
            of_s3("404 Not Found", "NoSuchBucket", "The specified bucket does not exist."),
            "Generic S3 error: NoSuchBucket: The specified bucket does not exist: create it, or set another",
        ),
        (
            of_s3("403 Forbidden", "SignatureDoesNotMatch", "The signature does not match."),
            f"Generic S3 error: SignatureDoesNotMatch: The signature does not match: {_KEY}",
        ),
        (
            f"{_ASKED}, after 10 retries - HTTP error: error sending request: client error (Connect): {_REFUSED}".replace(
                ": ", "\n   \x1b[31m↳\x1b[0m "
            ),
            f"Generic S3 error: {_REFUSED}: check fs.s3a.endpoint, or AWS_ENDPOINT_URL",
        ),
    ],
)
def test_a_sentence_is_left(text: str, told: str) -> None:
    assert in_one_line(OSError(text)) == told
