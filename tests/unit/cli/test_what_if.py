"""`group-coordinator what-if` on tables that the state machine filled."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from group_coordinator.cli.what_if import command
from tests.support.extremes import extreme_groups
from tests.support.group_history import GroupHistory, tables_of

HOUR = 3_600_000


@pytest.fixture
def tables(tmp_path: Path) -> str:
    billing = GroupHistory("billing", offsets_retention_check_interval_ms=HOUR)
    billing.commit({"orders": {0: 10}})
    billing.sleep(30 * HOUR)
    billing.commit({"orders": {0: 11}})
    other = GroupHistory("other's", cluster_id="elsewhere")
    other.commit({"orders": {0: 5}})
    return str(tables_of(tmp_path, billing, other))


def what_if(tables: str, *arguments: str) -> Result:
    settings = ("--set", f"offsets.retention.check.interval.ms={HOUR}")
    printed = () if "--output" in arguments else ("--format", "csv")
    return CliRunner().invoke(command, [*arguments, *settings, *printed, "--tables", tables])


HEADINGS = (
    "cluster_id,group_id,topic,partition,last_offset,committed_at,removed_at,"
    "committed_again_at,lost_in_fact_at"
)


def test_which_offsets_would_have_gone_and_when(tables: str) -> None:
    found = what_if(tables, "--retention", "1d", "--as-of", "1970-01-02 08:00")

    assert found.stdout.splitlines() == [
        HEADINGS,
        "elsewhere,other's,orders,0,5,1970-01-01 00:00:00.000Z,1970-01-02 00:00:00.000Z,,",
        "test,billing,orders,0,10,1970-01-01 00:00:00.000Z,1970-01-02 00:00:00.000Z,1970-01-02 06:00:00.000Z,",
    ]


def test_until_now_unless_a_time_is_given(tables: str) -> None:
    found = what_if(tables, "--retention", "36500d").stdout.splitlines()
    assert found == [HEADINGS]

    found = what_if(tables, "--retention", "2w").stdout.splitlines()
    assert [line.split(",")[4] for line in found[1:]] == ["5", "11"]


def test_one_group(tables: str) -> None:
    when = ("--as-of", "1970-01-01 02:00")
    found = what_if(tables, "--retention", "90m", *when, "--group", "other's")

    assert found.stdout.splitlines()[1:] == [
        "elsewhere,other's,orders,0,5,1970-01-01 00:00:00.000Z,1970-01-01 02:00:00.000Z,,"
    ]


def test_a_group_that_nobody_knows_is_told(tables: str, caplog: pytest.LogCaptureFixture) -> None:
    found = what_if(tables, "--retention", "1d", "--group", "biling", "--group", "billing")

    assert len(found.stdout.splitlines()) == 3
    assert caplog.messages == ["coordinator_log has no record of group 'biling' up to that time"]


def test_times_that_no_calendar_has_are_shown_as_the_nearest(tmp_path: Path) -> None:
    tables = str(tables_of(tmp_path, *extreme_groups()))

    found = what_if(tables, "--retention", "1d", "--as-of", "9999-12-31").stdout.splitlines()

    assert [line for line in found if line.startswith("test,time-")] == [
        "test,time--1,orders,0,5,1969-12-31 23:59:59.999Z,1970-01-02 00:00:00.000Z,,",
        "test,time--9223372036854775808,orders,0,5,0001-01-01 00:00:00.000Z,1970-01-01 01:00:00.000Z,,",
    ]


def test_a_file(tables: str, tmp_path: Path) -> None:
    file = tmp_path / "removed.csv"

    what_if(tables, "--retention", "1d", "--output", "csv", str(file))

    assert file.read_text().splitlines()[0] == HEADINGS


@pytest.mark.parametrize("retention", ["1", "0d", "1 d", "d", "-1d", "1y"])
def test_a_duration_that_is_none(tables: str, retention: str) -> None:
    result = what_if(tables, f"--retention={retention}")

    assert result.exit_code == 2
    assert (
        f"'{retention}' is not a duration: give one such as 500ms, 30s, 90m, 12h, 7d or 2w"
        in result.stderr
    )


def test_no_tables(tmp_path: Path) -> None:
    result = what_if(str(tmp_path), "--retention", "1d")

    assert result.exit_code == 1
    assert "has no tables: run `group-coordinator init`" in result.stderr
