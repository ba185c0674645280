"""Rows of the log on their way from a worker to the table: they arrive as they were made, with what a job adds."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from group_coordinator.runtime.outputs import LogRow
from group_coordinator.tables.log_rows import LogOrigin, arrow_rows, packed, unpacked

COMMIT = LogRow(
    *("billing-ü", 1, b'{"version":1,"group":"billing-\xc3\xbc","topic":"orders","partition":3}'),
    *(b'{"version":3,"offset":42}', "orders", 3, None, 42, "offset-commit", "User:anna"),
    *(1_767_225_600_123, 7, 1_742, 0),
)
EXPIRED = LogRow(
    *("billing-ü", 1, b'{"version":1}', None, "orders", 3, None, None, "offset-expired", None),
    *(2**62, None, None, 1),
)


def in_the_table(*rows: LogRow) -> list[dict[str, Any]]:
    origin = LogOrigin("production", "group-events")
    contents = [packed(arrow_rows([row])) for row in rows]
    return [row for batch in origin.table_rows(contents) for row in batch.to_pylist()]


def test_columns_have_the_types_of_the_row() -> None:
    columns = arrow_rows([COMMIT]).schema

    assert ", ".join(f"{column.name} {column.type}" for column in columns) == (
        "group_id string, record_type int32, key string, value string, topic string, partition int32, "
        "member_id string, offset int64, reason string, principal string, event_time_ms int64, "
        "source_partition int32, source_offset int64, seq int32"
    )


def test_packed_rows_come_out_in_order() -> None:
    many = [COMMIT, EXPIRED] * 3_000

    batches = list(unpacked(packed(arrow_rows(many))))

    assert [row["offset"] for batch in batches for row in batch.to_pylist()] == [42, None] * 3_000


def test_a_commit_in_the_table() -> None:
    assert in_the_table(COMMIT) == [
        {
            "cluster_id": "production",
            "group_id": "billing-ü",
            "record_type": 1,
            "key": '{"version":1,"group":"billing-ü","topic":"orders","partition":3}',
            "value": '{"version":3,"offset":42}',
            "topic": "orders",
            "partition": 3,
            "member_id": None,
            "offset": 42,
            "reason": "offset-commit",
            "principal": "User:anna",
            "event_time": datetime(2026, 1, 1, 0, 0, 0, 123_000, tzinfo=UTC),
            "source_topic": "group-events",
            "source_partition": 7,
            "source_offset": 1_742,
            "seq": 0,
            "inferred": None,
            "source_topic_id": None,
        }
    ]


def test_a_deadline_has_no_event_and_a_time_beyond_the_calendar_is_the_last_one() -> None:
    commit, expired = in_the_table(COMMIT, EXPIRED)

    assert expired["value"] is None
    assert (commit["source_topic"], expired["source_topic"]) == ("group-events", None)
    assert expired["event_time"] == datetime(9999, 12, 31, 23, 59, 59, 999_000, tzinfo=UTC)


@pytest.mark.parametrize("at_ms", [-(2**63), -62_135_596_800_001, -62_135_596_800_000])
def test_a_time_before_the_calendar_is_the_first_one(at_ms: int) -> None:
    early = LogRow(*[getattr(COMMIT, name) for name in COMMIT.__struct_fields__])
    early.event_time_ms = at_ms

    [row] = in_the_table(early)

    assert row["event_time"] == datetime(1, 1, 1, tzinfo=UTC)
