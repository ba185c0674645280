from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from group_coordinator.driver.metrics.table_gauges import group_families
from tests.unit.driver.metrics.scraped import shown

KAFKAS = "kafka_server_group_coordinator_metrics"
MANAGER = "kafka_coordinator_group_groupmetadatamanager"
NAMES = ("group_id", "group_type", "state", "offset_count")
GROUPS = [
    ("a", "classic", "Stable", 3),
    ("b", "classic", "Stable", 1),
    ("c", "classic", "Empty", 0),
    ("d", "consumer", "Reconciling", 2),
]
SCHEMA = pa.schema(
    [*((name, pa.large_string()) for name in NAMES[:3]), ("offset_count", pa.int32())]
)


def gauges(
    rows: list[tuple[str, str, str, int]], rebalancing: Mapping[str, str]
) -> dict[str, float]:
    table = pa.Table.from_pylist([dict(zip(NAMES, row, strict=True)) for row in rows], SCHEMA)
    return {name: n for name, n in shown(group_families(table, rebalancing)).items() if n}


def test_groups_are_counted_by_type_and_state() -> None:
    assert gauges(GROUPS, {}) == {
        f'{KAFKAS}_group_count{{protocol="classic"}}': 3,
        f'{KAFKAS}_group_count{{protocol="consumer"}}': 1,
        f'{KAFKAS}_classic_group_count{{state="Stable"}}': 2,
        f'{KAFKAS}_classic_group_count{{state="Empty"}}': 1,
        f'{KAFKAS}_consumer_group_count{{state="Reconciling"}}': 1,
        f"{KAFKAS}_offset_count": 6,
        f"{MANAGER}_numoffsets": 6,
        f"{MANAGER}_numgroups": 3,
        f"{MANAGER}_numgroupsstable": 2,
        f"{MANAGER}_numgroupsempty": 1,
    }


def test_who_rebalances_is_not_what_the_log_says() -> None:
    """Of the last one the log says nothing yet; that another was upgraded meanwhile, the table says."""
    rebalancing = {
        "a": "PreparingRebalance",
        "d": "PreparingRebalance",
        "new": "CompletingRebalance",
    }

    found = gauges(GROUPS, {**rebalancing})

    assert found[f"{MANAGER}_numgroupsstable"] == 1
    assert found[f"{MANAGER}_numgroupspreparingrebalance"] == 1
    assert found[f"{MANAGER}_numgroupscompletingrebalance"] == 1
    assert found[f"{MANAGER}_numgroups"] == 4
    assert found[f'{KAFKAS}_group_count{{protocol="consumer"}}'] == 1


def test_without_groups_all_is_zero() -> None:
    table = pa.Table.from_pylist([], SCHEMA)

    found = shown(group_families(table, {}))

    assert set(found.values()) == {0}
    assert f'{KAFKAS}_consumer_group_count{{state="Dead"}}' in found
    assert f"{MANAGER}_numgroupspreparingrebalance" in found
