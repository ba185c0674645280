"""Settings of a group become rows of their own, and its retention moves the forecasts of offsets that nobody touched."""

from __future__ import annotations

import pytest
from msgspec import to_builtins

from group_coordinator.core.model.records import ConfigRecord, Reason
from tests.support.log_rows import Log, member
from tests.unit.tables.compaction.test_apply_entries import Tables, entries

RETENTION, SESSION = "offsets.retention.ms", "consumer.session.timeout.ms"


def setting(value: str | None, at_ms: int, *, name: str = RETENTION, batch_id: int = 1) -> Log:
    log = Log(batch_id, at_ms)
    log.record("g", ConfigRecord(name, value, Reason.CONFIG))
    return log


def two_offsets() -> Tables:
    """Committed at 0 and at 1,000; by the coordinator's retention of a minute they go at 60,000 and 70,000."""
    tables, log = Tables(), Log()
    log.commit("g", "orders", 0, 42)
    log.commit("g", "orders", 1, 42)
    tables.take(log)
    assert forecasts(tables) == (60_000, 70_000, 60_000)
    return tables


def forecasts(tables: Tables) -> tuple[int | None, int | None, int | None]:
    return (
        *(tables.expires_at("orders", 0), tables.expires_at("orders", 1)),
        tables.group.next_expiration,
    )


def test_a_setting_is_a_row_whether_the_group_exists_or_not() -> None:
    tables = Tables()

    tables.take(setting("50000", 2_000, name=SESSION, batch_id=4))

    assert tables.rows.group is None
    assert [to_builtins(row) for row in tables.rows.configs.values()] == [
        {
            "cluster_id": "c",
            "group_id": "g",
            "name": SESSION,
            "value": "50000",
            "updated_at": 2_000,
            "batch_id": 4,
        }
    ]
    tables.take(setting(None, 3_000, name=SESSION, batch_id=5))
    assert tables.rows.configs == {}


@pytest.mark.parametrize(
    ("retention_ms", "at_ms", "expected"),
    [
        (120_000, 30_000, (120_000, 130_000, 120_000)),
        (39_000, 30_000, (40_000, 40_000, 40_000)),
        (39_001, 30_000, (40_000, 50_000, 40_000)),
        # Long overdue: the first sweep after the setting takes both.
        (1, 29_999, (30_000, 30_000, 30_000)),
        (1, 30_000, (40_000, 40_000, 40_000)),
        (2**63 - 1, 30_000, (253_402_300_799_999,) * 3),
    ],
)
def test_a_retention_moves_the_forecasts_of_rows_that_nobody_touched(
    retention_ms: int, at_ms: int, expected: tuple[int, int, int]
) -> None:
    tables = two_offsets()

    tables.take(setting(str(retention_ms), at_ms))

    assert forecasts(tables) == expected
    row = tables.rows.offsets["orders", 0]
    assert (row.updated_at, row.batch_id, row.commit_timestamp) == (at_ms, 1, 0)


def test_it_counts_in_every_later_run() -> None:
    tables = two_offsets()
    tables.take(setting("120000", 30_000))
    log = Log(batch_id=2, now_ms=40_000)
    log.commit("g", "orders", 1, 43)

    tables.take(log)

    assert forecasts(tables) == (120_000, 160_000, 120_000)


def test_taken_back_the_coordinators_counts_again() -> None:
    tables = two_offsets()
    tables.take(setting("120000", 30_000))

    tables.take(setting(None, 40_000, batch_id=2))

    assert tables.rows.configs == {}
    assert forecasts(tables) == (60_000, 70_000, 60_000)


def test_it_may_come_before_the_group_and_outlives_it() -> None:
    tables = Tables()
    tables.take(setting("20000", 0))
    for batch_id, at_ms, expires_at in ((2, 5_000, 30_000), (3, 50_000, 70_000)):
        log = Log(batch_id, at_ms)
        log.commit("g", "orders", 0, batch_id)
        tables.take(log)
        assert tables.expires_at("orders", 0) == expires_at
        log = Log(batch_id, at_ms + 1_000)
        log.forget("g", "orders", 0)
        log.end("g")
        tables.take(log)
        assert tables.rows.group is None
    assert [row.value for row in tables.rows.configs.values()] == ["20000"]


def test_what_its_client_said_and_what_protects_it_stay() -> None:
    tables, log = Tables(), Log()
    log.commit("g", "refunds", 0, 42, expireTimestamp=80_000)
    log.commit("g", "orders", 0, 42)
    log.group("g", [member("a", ["orders"], {"orders": [0]})])
    tables.take(log)

    tables.take(setting("1", 30_000))

    assert tables.expires_at("orders") is None
    assert tables.expires_at("refunds") == tables.group.next_expiration == 80_000


def test_a_stretch_with_settings_may_be_folded_again() -> None:
    tables = two_offsets()
    first, second = setting("120000", 30_000), setting("90000", 40_000, batch_id=2)
    both = entries(first) + entries(second)
    assert tables.take_entries(both) != []

    assert tables.take_entries(both) == []
    assert tables.take(second) == []
