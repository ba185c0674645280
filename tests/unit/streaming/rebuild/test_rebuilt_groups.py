from __future__ import annotations

import json

import pandas as pd

from group_coordinator.codecs import snapshots
from group_coordinator.runtime.outputs import seed_of
from group_coordinator.streaming.rebuild.rebuilt_groups import (
    COLUMNS,
    LoggedRecord,
    rebuilt_group,
    seeds,
    states,
)
from tests.unit.codecs.offsets_topic.cases import PLAIN

ORDERS_0 = '{"type":1,"data":{"group":"g","topic":"orders","partition":0}}'
GROUP = '{"type":2,"data":{"group":"g"}}'


def stored(offset: int) -> str:
    data = {"offset": offset, "commitTimestamp": 1_000}
    return json.dumps({"version": 4, "data": data})


def test_a_group_is_what_its_log_says_at_the_time_of_its_last_record() -> None:
    group = rebuilt_group(
        "g",
        [LoggedRecord(ORDERS_0, stored(1), 1_000), LoggedRecord(ORDERS_0, stored(2), 2_000)],
    )

    assert group is not None
    assert group.offsets == {"orders": {0: PLAIN.replace(offset=2)}}
    assert group.clock_ms == 2_000


def test_an_offset_waits_for_its_transaction_as_before() -> None:
    value = stored(3)[:-1] + ', "producerId": 17}'

    group = rebuilt_group("g", [LoggedRecord(ORDERS_0, value, 1_000)])

    assert group is not None
    assert group.offsets == {}
    [waiting] = group.pending["orders", 0][17]
    assert waiting.offset == PLAIN.replace(offset=3)


def test_a_group_that_is_gone_is_not_made_anew() -> None:
    log = [
        LoggedRecord(ORDERS_0, stored(1), 1_000),
        LoggedRecord(ORDERS_0, None, 2_000),
        LoggedRecord(GROUP, None, 2_000),
    ]

    assert rebuilt_group("g", log) is None
    assert rebuilt_group("g", [*log, LoggedRecord(ORDERS_0, stored(5), 3_000)]) is not None


def test_a_group_may_begin_in_one_frame_and_end_in_the_next() -> None:
    def frame(*rows: tuple[str, int]) -> pd.DataFrame:
        return pd.DataFrame(
            [(group, None, ORDERS_0, stored(offset), 1_000) for group, offset in rows],
            columns=COLUMNS,
        )

    made = list(seeds(iter([frame(("a", 1), ("b", 2)), frame(("b", 3), ("c", 4))])))

    assert [offset_in(row) for rows in made for row in rows.itertuples()] == [
        ("a", 1),
        ("b", 3),
        ("c", 4),
    ]


def test_a_group_goes_on_from_its_state_in_a_snapshot() -> None:
    earlier = rebuilt_group("a", [LoggedRecord(ORDERS_0, stored(1), 1_000)])
    unchanged = rebuilt_group("b", [LoggedRecord(ORDERS_0, stored(2), 1_000)])
    assert earlier is not None
    assert unchanged is not None
    rows = [
        ("a", snapshots.dump(earlier), None, None, 0),
        ("a", None, ORDERS_0, stored(7), 2_000),
        ("b", snapshots.dump(unchanged), None, None, 0),
        ("c", None, ORDERS_0, stored(9), 3_000),
    ]

    frames = states(iter([pd.DataFrame(rows, columns=COLUMNS)]))

    made = {
        row.group_id: snapshots.load(row.group_id, row.state)
        for f in frames
        for row in f.itertuples()
    }
    found = {name: (g.offsets["orders"][0].offset, g.clock_ms) for name, g in made.items()}
    assert found == {"a": (7, 2_000), "b": (2, 1_000), "c": (9, 3_000)}


def offset_in(row: tuple[object, ...]) -> tuple[str, int]:
    _, group_id, event = row
    assert isinstance(group_id, str)
    assert isinstance(event, bytes)
    snapshot = seed_of([event])
    assert snapshot is not None
    return group_id, snapshots.load(group_id, snapshot).offsets["orders"][0].offset
