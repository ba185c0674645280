from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from group_coordinator import settings
from group_coordinator.clients.errors import QueryError
from group_coordinator.driver.metrics.table_gauges import TableGauges, table_asker
from tests.support.group_history import GroupHistory, label, tables_of
from tests.support.samples import sample
from tests.unit.driver.metrics.scraped import in_text, shown

LAG = "kafka_consumergroup_lag"


class Tables:
    """One group with one offset, until it is gone, or nothing answers."""

    def __init__(self) -> None:
        self.is_away = False
        self.groups = ["a"]
        self.asked: list[str] = []

    def ask(self, select: str) -> pa.Table:
        if self.is_away:
            raise QueryError("no such file")
        self.asked.append(select.removesuffix(" WHERE $own").rpartition(" ")[2])
        count = len(self.groups)
        if self.asked[-1] == "groups":
            columns = {"group_type": "classic", "state": "Empty"}
            texts = {name: [text] * count for name, text in columns.items()}
            numbers = {"member_count": [0] * count, "offset_count": [1] * count}
            return pa.table({"group_id": pa.array(self.groups, pa.string()), **texts, **numbers})
        if self.asked[-1] == "group_owners":
            return pa.table({"group_id": [], "owner": [], "tier": [], "objective_seconds": []})
        return self._lag(count)

    def _lag(self, count: int) -> pa.Table:
        sampled = datetime.now(UTC) - timedelta(seconds=50)
        numbers = {
            "committed_offset": 3,
            "lag": 6,
            "lost": 0,
            "log_start_offset": 0,
            "log_end_offset": 9,
        }
        return pa.table(
            {
                "group_id": pa.array(self.groups, pa.string()),
                "topic": ["orders"] * count,
                "partition": [0] * count,
                **{name: pa.array([n] * count, pa.int64()) for name, n in numbers.items()},
                "sampled_at": pa.array([sampled] * count, pa.timestamp("us", "UTC")),
            }
        )


def shown_by(figures: TableGauges) -> dict[str, float]:
    return shown(figures.families()) | in_text(figures.text())


@pytest.fixture
def tables() -> Tables:
    return Tables()


def test_what_was_read_last_is_shown_with_its_age(tables: Tables) -> None:
    figures = TableGauges(tables.ask, "topic", dict)
    assert shown_by(figures) == {}

    figures.read()

    found = shown_by(figures)
    assert found[f'{LAG}_sum{{consumergroup="a",topic="orders"}}'] == 6
    assert found["group_coordinator_positions_age_seconds"] == pytest.approx(50, abs=5)
    assert found["group_coordinator_tables_age_seconds"] < 5


def test_a_group_that_is_gone_has_no_series_any_more(tables: Tables) -> None:
    figures = TableGauges(tables.ask, "partition", dict)
    figures.read()
    assert any("consumergroup" in name for name in shown_by(figures))
    tables.groups = []
    figures.read()

    assert not any("consumergroup" in name for name in shown_by(figures))


def test_tables_that_cannot_be_read_are_shown_as_they_were(
    tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    figures = TableGauges(tables.ask, "partition", dict)
    figures.read()
    read_s = time.monotonic()
    tables.is_away = True
    with pytest.raises(QueryError):
        figures.read()
    monkeypatch.setattr(time, "monotonic", lambda: read_s + 100)

    found = shown_by(figures)
    assert found[f'{LAG}{{consumergroup="a",partition="0",topic="orders"}}'] == 6
    assert found["group_coordinator_tables_age_seconds"] >= 100


def test_lag_that_nobody_wants_is_not_read(tables: Tables) -> None:
    figures = TableGauges(tables.ask, "none", dict)
    figures.read()

    assert tables.asked == ["groups"]
    assert "group_coordinator_positions_age_seconds" not in shown_by(figures)


def test_tables_on_a_disk_are_read_of_one_cluster(tmp_path: Path) -> None:
    billing, elsewhere = GroupHistory("billing"), GroupHistory("other", cluster_id="elsewhere")
    for history in (billing, elsewhere):
        history.commit({"orders": {0: 42}})
    root = tables_of(tmp_path, billing, elsewhere)
    sample(root, time.time(), "orders", {0: 50, 1: 7})
    label(root, ("bill*", "payments", None, 60), ("*", None, "gold", None))
    job = replace(settings.load().job, tables_root=str(root), cluster_id="test")
    spark: Any = None

    figures = TableGauges(
        table_asker(spark, job), "partition", lambda: {"billing": "PreparingRebalance"}
    )
    figures.read()

    found = shown_by(figures)
    assert found["kafka_coordinator_group_groupmetadatamanager_numoffsets"] == 1
    assert found["kafka_coordinator_group_groupmetadatamanager_numgroupspreparingrebalance"] == 1
    assert {name: n for name, n in found.items() if name.startswith(f"{LAG}_")} == {
        f'{LAG}_sum{{consumergroup="billing",topic="orders"}}': 8
    }
    assert found['kafka_topic_partition_current_offset{partition="1",topic="orders"}'] == 7
    assert found["group_coordinator_positions_age_seconds"] < 60
    labelled = 'kafka_consumergroup_labels{consumergroup="billing",owner="payments",tier=""}'
    assert found[labelled] == 1
    assert found['kafka_consumergroup_objective_seconds{consumergroup="billing"}'] == 60
    assert not any('consumergroup="other"' in name for name in found)
