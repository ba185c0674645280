from __future__ import annotations

from typing import Any

import pyarrow as pa

from group_coordinator.driver.metrics.table_gauges import lag_families
from tests.unit.driver.metrics.scraped import shown

GROUPS = pa.table({"group_id": ["a", "b"], "member_count": [2, 0]})


def row(group_id: str, topic: str, partition: int, committed: int | None, end: int | None) -> Any:
    start = None if end is None else 3
    known = committed is not None and end is not None
    return {
        "group_id": group_id,
        "topic": topic,
        "partition": partition,
        "committed_offset": committed,
        "lag": end - max(committed, start) if known else None,  # type: ignore[operator, type-var]
        "lost": max(0, start - committed) if known else None,  # type: ignore[operator]
        "log_start_offset": start,
        "log_end_offset": end,
    }


LAG = pa.Table.from_pylist(
    [
        row("a", "orders", 0, 5, 9),
        row("a", "orders", 1, None, 20),
        row("a", "refunds", 0, 7, None),
        row("b", "orders", 0, 2, 9),
    ]
)
COMMITTED = "kafka_consumergroup_current_offset"
MEMBERS = {
    'kafka_consumergroup_members{consumergroup="a"}': 2,
    'kafka_consumergroup_members{consumergroup="b"}': 0,
}
BY_TOPIC = {
    f'{COMMITTED}_sum{{consumergroup="a",topic="orders"}}': 5,
    f'{COMMITTED}_sum{{consumergroup="a",topic="refunds"}}': 7,
    f'{COMMITTED}_sum{{consumergroup="b",topic="orders"}}': 2,
    'kafka_consumergroup_lag_sum{consumergroup="a",topic="orders"}': 4,
    'kafka_consumergroup_lag_sum{consumergroup="b",topic="orders"}': 6,
    'kafka_consumergroup_lost_sum{consumergroup="a",topic="orders"}': 0,
    'kafka_consumergroup_lost_sum{consumergroup="b",topic="orders"}': 1,
    'kafka_consumergroup_used_up_max{consumergroup="a",topic="orders"}': 4 / 6,
    'kafka_consumergroup_used_up_max{consumergroup="b",topic="orders"}': 1,
}


def test_by_partition_there_is_what_is_known_and_nothing_else() -> None:
    found = shown(lag_families(GROUPS, LAG, "partition"))

    assert found == MEMBERS | BY_TOPIC | {
        f'{COMMITTED}{{consumergroup="a",partition="0",topic="orders"}}': 5,
        f'{COMMITTED}{{consumergroup="a",partition="0",topic="refunds"}}': 7,
        f'{COMMITTED}{{consumergroup="b",partition="0",topic="orders"}}': 2,
        'kafka_consumergroup_lag{consumergroup="a",partition="0",topic="orders"}': 4,
        'kafka_consumergroup_lag{consumergroup="b",partition="0",topic="orders"}': 6,
        'kafka_consumergroup_lost{consumergroup="a",partition="0",topic="orders"}': 0,
        'kafka_consumergroup_lost{consumergroup="b",partition="0",topic="orders"}': 1,
        'kafka_topic_partition_current_offset{partition="0",topic="orders"}': 9,
        'kafka_topic_partition_current_offset{partition="1",topic="orders"}': 20,
        'kafka_topic_partition_oldest_offset{partition="0",topic="orders"}': 3,
        'kafka_topic_partition_oldest_offset{partition="1",topic="orders"}': 3,
    }


def test_a_name_that_prometheus_cannot_read_does_not_take_the_page_with_it() -> None:
    groups = pa.table({"group_id": ["a\0b"], "member_count": [1]})

    assert shown(lag_families(groups, LAG.slice(0, 0), "group")) == {
        'kafka_consumergroup_members{consumergroup="a␀0b"}': 1
    }


def test_each_name_has_a_series_of_its_own() -> None:
    names = [
        *(
            "\0",
            "\0\0",
            "\ufffd",
            "␀",
            "␀␀",
            "␀0",
            "\0" + "0",
            "\n",
            "\\n",
            '"',
            '\\"',
            "",
            " ",
            "a",
        ),
        *("A", "a ", "é", "e\u0301", "\r", "a,b"),
    ]
    groups = pa.table({"group_id": names, "member_count": [*range(len(names))]})

    found = shown(lag_families(groups, LAG.slice(0, 0), "group"))

    assert sorted(found.values()) == [*range(len(names))]


def test_by_topic_there_are_sums() -> None:
    assert shown(lag_families(GROUPS, LAG, "topic")) == MEMBERS | BY_TOPIC


def test_by_group_there_is_one_sum_of_each() -> None:
    assert shown(lag_families(GROUPS, LAG, "group")) == MEMBERS | {
        f'{COMMITTED}_sum{{consumergroup="a"}}': 12,
        f'{COMMITTED}_sum{{consumergroup="b"}}': 2,
        'kafka_consumergroup_lag_sum{consumergroup="a"}': 4,
        'kafka_consumergroup_lag_sum{consumergroup="b"}': 6,
        'kafka_consumergroup_lost_sum{consumergroup="a"}': 0,
        'kafka_consumergroup_lost_sum{consumergroup="b"}': 1,
        'kafka_consumergroup_used_up_max{consumergroup="a"}': 4 / 6,
        'kafka_consumergroup_used_up_max{consumergroup="b"}': 1,
    }


def test_of_several_partitions_the_one_nearest_to_the_logs_start_counts() -> None:
    rows = [row("a", "orders", 0, 8, 9), row("a", "orders", 1, 5, 11), row("a", "orders", 2, 3, 3)]

    found = shown(lag_families(GROUPS, pa.Table.from_pylist(rows), "group"))

    assert found['kafka_consumergroup_used_up_max{consumergroup="a"}'] == 0.75


def test_who_wants_none_has_none() -> None:
    assert shown(lag_families(GROUPS, LAG, "none")) == {}
