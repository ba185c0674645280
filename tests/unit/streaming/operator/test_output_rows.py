"""The rows that leave a worker: outputs of one kind together, responses by group and partition."""

from __future__ import annotations

import pytest
from msgspec import structs

from group_coordinator.runtime.outputs import (
    AwaitedMarkersLine,
    DeadLetterRow,
    DenialRow,
    LogRow,
    Output,
    Piece,
    RebalancingLine,
    ResponseRow,
    TopicSubscriptionLine,
)
from group_coordinator.streaming.operator import output_rows
from group_coordinator.streaming.operator.output_rows import OutputLimits, OutputRows, Row
from group_coordinator.tables.log_rows import unpacked


def log_row(group_id: str, seq: int, value: bytes = b"{}") -> LogRow:
    return LogRow(
        group_id, 1, b"{}", value, "orders", 0, None, 5, "offset-commit", None, 1, 0, 0, seq
    )


def letter(reason: str) -> DeadLetterRow:
    return DeadLetterRow("a", 0, 7, reason, "eA==", 1)


def taken(*calls: tuple[str, list[Output]]) -> list[Row]:
    rows = OutputRows()
    for group_id, outputs in calls:
        rows.add(group_id, Piece(outputs, 100))
    return rows.take()


def logged(row: Row) -> list[tuple[str, int]]:
    return [(r["group_id"], r["seq"]) for batch in unpacked(row[3]) for r in batch.to_pylist()]


def test_responses_of_a_group_are_a_row_for_each_partition() -> None:
    of_a: list[Output] = [ResponseRow(None, b"1"), ResponseRow(4, b"22"), ResponseRow(None, b"333")]

    rows = taken(("a", of_a), ("b", [ResponseRow(None, b"4")]))

    assert rows == [
        ("R", "a", None, b"1\n333", 2),
        ("R", "a", 4, b"22", 1),
        ("R", "b", None, b"4", 1),
    ]


def test_log_rows_of_many_groups_are_one_row() -> None:
    row, meters = taken(("a", [log_row("a", 0), log_row("a", 1)]), ("b", [log_row("b", 0)]))

    assert meters == ("N", None, None, b'{"offset-commit":3}', 1)
    assert (row[:3], row[4]) == (("L", None, None), 3)
    assert logged(row) == [("a", 0), ("a", 1), ("b", 0)]


@pytest.mark.parametrize(
    ("rows", "bytes_each", "counts"),
    [(4_096, 1, [4_096]), (4_097, 1, [4_096, 1]), (5, 300_000, [4, 1])],
)
def test_many_log_rows_are_several_rows(rows: int, bytes_each: int, counts: list[int]) -> None:
    many: list[Output] = [log_row("a", seq, b"x" * bytes_each) for seq in range(rows)]

    *found, meters = taken(("a", many))

    assert meters[3] == b'{"offset-commit":%d}' % rows
    assert [row[4] for row in found] == counts
    assert [pair for row in found for pair in logged(row)] == [("a", seq) for seq in range(rows)]


def test_all_else_is_a_row_each() -> None:
    others: list[Output] = [
        letter("not JSON"),
        letter("defect: KeyError: 'x'"),
        TopicSubscriptionLine("a", ("orders",), ()),
        AwaitedMarkersLine("a", {5: 17}),
        RebalancingLine("a", None),
        DenialRow("a", 0, 7, "Heartbeat", "User:b", "/10.0.0.7", "READ", "GROUP", "a", 1),
    ]

    rows = taken(("a", others))

    assert [row[0] for row in rows] == ["D", "D!", "T", "M", "S", "A"]
    assert {row[4] for row in rows} == {1}
    assert rows[2][3] == b'{"group_id":"a","names":["orders"],"regexes":[]}'
    assert rows[3][3] == b'{"group_id":"a","since":{"5":17}}'
    assert rows[4][3] == b'{"group_id":"a","state":null}'
    assert rows[5][3] == (
        b'{"group_id":"a","source_partition":0,"source_offset":7,"api":"Heartbeat","principal":"User:b",'
        b'"client_host":"/10.0.0.7","operation":"READ","resource_type":"GROUP","resource_name":"a","event_time_ms":1}'
    )


def test_what_was_taken_is_gone() -> None:
    rows = OutputRows()
    rows.add("a", Piece([log_row("a", 0), ResponseRow(None, b"1")], 300))
    assert (len(rows), rows.bytes) == (3, 300)

    assert len(rows.take()) == 3

    assert (len(rows), rows.bytes, rows.take()) == (0, 0, [])


def test_what_is_more_than_the_driver_takes_of_a_task_is_kept_back() -> None:
    rows = OutputRows(OutputLimits(task_bytes=9, response_bytes=4))
    rows.add("a", Piece([ResponseRow(None, b"22"), ResponseRow(1, b"333")], 300))
    rows.add("b", Piece([ResponseRow(None, b"4444")], 300))
    assert [row[3] for row in rows.take()] == [b"22", b"333", b"4444"]

    rows.add("a", Piece([ResponseRow(None, b"1")], 300))

    assert rows.take() == [("R", "a", None, None, 1)]


def test_a_response_that_is_too_long_is_kept_back_and_nothing_else() -> None:
    rows = OutputRows(OutputLimits(task_bytes=1_000, response_bytes=4))

    rows.add("a", Piece([ResponseRow(None, b"55555"), letter("longer than a response")], 300))

    other, response = rows.take()
    assert response == ("R", "a", None, None, 1)
    assert other[3] is not None


def test_a_row_has_a_value_for_each_column() -> None:
    names = output_rows.OUTPUT.names

    assert names == ["kind", "key", "partition", "content", "count"]
    rows = OutputRows()
    rows.add("a", Piece([log_row("a", 0), letter("x")], 300))
    assert {len(row) for row in rows.take()} == {len(names)}
    assert {field.name for field in structs.fields(ResponseRow)} == {"partition", "value"}
