"""What a row of the log adds to Kafka's meters; that Kafka counts the same, every story shows (tests/conformance)."""

from __future__ import annotations

import pytest

from group_coordinator.core.model.records import Reason
from group_coordinator.runtime.meters import METERS, counted, meter_of
from group_coordinator.runtime.outputs import LogRow
from tests.unit.runtime.group_updates import COMMIT, call, committed, row, stable


def log_row(record_type: int, reason: str, value: bytes | None) -> LogRow:
    return LogRow("g", record_type, b"{}", value, None, None, None, None, reason, None, 1, 0, 0, 0)


@pytest.mark.parametrize(
    ("record_type", "reason", "is_tombstone", "meter"),
    [
        (1, "offset-commit", False, "offset-commit"),
        (1, "offset-reset", False, "offset-commit"),
        (1, "offset-restored", False, "offset-commit"),
        (1, "offset-expired", True, "offset-expiration"),
        (1, "offset-deleted", True, "offset-deletion"),
        (1, "group-deleted", True, None),
        (1, "topic-deleted", True, None),
        (-1, "transaction-committed", False, None),
        (2, "sync", False, "group-completed-rebalance"),
        (2, "join", False, None),
        (2, "downgrade", False, None),
        (2, "group-expired", True, None),
        (3, "join", False, "consumer-group-rebalance"),
        (3, "heartbeat", False, "consumer-group-rebalance"),
        (3, "topics-resolved", False, "consumer-group-rebalance"),
        (3, "leave", False, None),
        (3, "session-timeout", False, None),
        (3, "upgrade", False, None),
        (3, "join", True, None),
    ],
)
def test_a_row_of_the_log_counts_in_one_meter_or_in_none(
    record_type: int,
    reason: str,
    is_tombstone: bool,  # noqa: FBT001 - a column
    meter: str | None,
) -> None:
    assert meter_of(record_type, reason, is_tombstone=is_tombstone) == meter
    value = None if is_tombstone else b"{}"
    expected = {} if meter is None else {meter: 2}
    assert counted([log_row(record_type, reason, value)] * 2) == expected


def test_a_reason_is_told_by_its_text_as_the_table_has_it() -> None:
    for meter in METERS:
        for reason in meter.reasons:
            found = meter_of(meter.record_type, str(reason), is_tombstone=meter.tombstones)
            assert found == meter.name
            assert reason in Reason


def test_what_a_call_writes_is_counted() -> None:
    group = committed()
    expired = call(at_ms=62_000, state=group.state)

    assert counted(log_rows(group)) == {"offset-commit": 1}
    assert counted(log_rows(expired)) == {"offset-expiration": 1}
    assert counted(log_rows(stable())) == {"group-completed-rebalance": 1}
    assert counted(log_rows(call(row(COMMIT, 1), row(COMMIT, 2, 1), at_ms=2))) == {
        "offset-commit": 2
    }


def log_rows(update: object) -> list[LogRow]:
    pieces = update.pieces  # type: ignore[attr-defined]
    return [output for piece in pieces for output in piece.outputs if isinstance(output, LogRow)]
