from __future__ import annotations

from pathlib import Path

import click
import pytest
from kafka import TopicPartition

from group_coordinator.cli.groups.reset import export, read_plans

ORDERS_0, ORDERS_1 = TopicPartition("orders", 0), TopicPartition("orders", 1)
LONG = TopicPartition("a-topic-of-25-characters.", 3)
ONE = {"billing": {ORDERS_0: 5, LONG: 7}}
SEVERAL = {"billing": {ORDERS_0: 5}, 'odd, "name"': {ORDERS_1: 0}}


def test_a_file_of_one_group_does_not_name_it() -> None:
    assert export(ONE, with_groups=False) == 'orders,0,5\n"a-topic-of-25-characters.",3,7\n'


def test_a_file_of_several_groups_names_them() -> None:
    assert export(SEVERAL, with_groups=True) == ('billing,orders,0,5\n"odd, ""name""",orders,1,0\n')


@pytest.mark.parametrize(
    ("text", "groups", "plans"),
    [
        (export(ONE, with_groups=False), ["billing"], ONE),
        (export(ONE, with_groups=True), ["billing"], ONE),
        (export(SEVERAL, with_groups=True), ["billing", "x"], SEVERAL),
        (export(SEVERAL, with_groups=True), [], SEVERAL),
    ],
)
def test_what_is_exported_can_be_read(
    tmp_path: Path,
    text: str,
    groups: list[str],
    plans: dict[str, dict[TopicPartition, int]],
) -> None:
    file = tmp_path / "plan.csv"
    file.write_text(f"{text}\n")

    assert read_plans(file, groups) == plans


@pytest.mark.parametrize(
    ("text", "groups", "complaint"),
    [
        ("orders,0\n", ["g"], ":1: not TOPIC,PARTITION,OFFSET"),
        ("orders,0,1\norders,x,1\n", ["g"], ":2: PARTITION = 'x' is not a whole number"),
        ("topic,partition,offset\n", ["g"], ":1: PARTITION = 'partition'.*a header line"),
        ("orders,0,ten\n", ["g"], ":1: OFFSET = 'ten' is not a whole number"),
        ("orders,0,-1\n", ["g"], ":1: OFFSET = '-1' is not a whole number from 0 to 92"),
        ("orders,0,1_0\n", ["g"], ":1: OFFSET = '1_0' is not a whole number"),
        ("orders,0,\n", ["g"], ":1: OFFSET = '' is not a whole number"),
        (
            "orders,0,1\norders,1,99999999999999999999\n",
            ["g"],
            ":2: OFFSET = '9{20}' is not a whole number from 0 to 9223372036854775807",
        ),
        ("orders,-1,1\n", ["g"], ":1: PARTITION = '-1' is not a whole number from 0 to 21"),
        ("orders,2147483648,1\n", ["g"], ":1: PARTITION = '2147483648' is not a whole"),
        ("orders,0,1\n", ["g", "h"], ":1: not GROUP,TOPIC,PARTITION,OFFSET"),
        ("g,orders,0,1\norders,0,1\n", ["g"], ":2: not GROUP,TOPIC,PARTITION,OFFSET"),
    ],
)
def test_an_unusable_file(tmp_path: Path, text: str, groups: list[str], complaint: str) -> None:
    file = tmp_path / "plan.csv"
    file.write_text(text)

    with pytest.raises(click.UsageError, match=complaint):
        read_plans(file, groups)


def test_a_file_in_another_encoding(tmp_path: Path) -> None:
    file = tmp_path / "plan.csv"
    file.write_bytes("orders,0,1\n".encode("utf-16"))

    with pytest.raises(click.UsageError, match=r"plan\.csv: .*: give a CSV file in UTF-8$"):
        read_plans(file, ["g"])


def test_numbers_as_kafkas_tool_reads_them(tmp_path: Path) -> None:
    file = tmp_path / "plan.csv"
    file.write_text("orders, 0,+5\norders,01,\u0667 \n")

    assert read_plans(file, ["billing"]) == {"billing": {ORDERS_0: 5, ORDERS_1: 7}}


def test_of_several_lines_for_a_partition_the_last_counts_as_in_kafkas_tool(tmp_path: Path) -> None:
    file = tmp_path / "plan.csv"
    file.write_text("orders,0,2\norders,1,7\norders,0,6\n")

    assert read_plans(file, ["billing"]) == {"billing": {ORDERS_0: 6, ORDERS_1: 7}}


def test_a_group_with_line_breaks_in_its_name_is_read_as_it_was_exported(tmp_path: Path) -> None:
    plans = {name: {ORDERS_0: 5} for name in ("a\nb", "a\r\nb", "a\u2028b", "a\x0bb", "a\\nb")}
    file = tmp_path / "plan.csv"
    file.write_text(export(plans, with_groups=True), newline="")

    assert read_plans(file, []) == plans


def test_the_mark_that_spreadsheets_begin_a_file_with_is_no_part_of_a_topic(tmp_path: Path) -> None:
    file = tmp_path / "plan.csv"
    file.write_bytes(b"\xef\xbb\xbforders,0,5\n")

    assert read_plans(file, ["billing"]) == {"billing": {ORDERS_0: 5}}
