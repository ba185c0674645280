"""What the views tell of a mirrored cluster: a recording of a real broker, with the reasons that are inferred of it."""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from group_coordinator import settings
from group_coordinator.clients.as_of_time import AsOfTime
from group_coordinator.clients.sql_tables import query
from group_coordinator.clients.what_if import what_if
from group_coordinator.codecs.records import record_types
from group_coordinator.mirror.group_so_far import GroupSoFar
from group_coordinator.mirror.inference import ClusterFacts, infer_reasons
from group_coordinator.tables.compaction.rows import GroupRows
from group_coordinator.tables.coordinator_log import COORDINATOR_LOG
from group_coordinator.tables.creation import COMPACTED, TABLES
from tests.support.endings import RETENTION_MS, as_logged, in_the_table, recording
from tests.support.group_history import asked


def mirrored_rows() -> list[dict[str, Any]]:
    rows, topics, _ = recording()
    facts = ClusterFacts(RETENTION_MS, topics)
    by_group = groupby(sorted(rows, key=itemgetter("group_id", "seq")), key=itemgetter("group_id"))
    found = {
        one.source_offset: one.reason
        for group_id, of_group in by_group
        for one in infer_reasons(
            GroupSoFar(group_id, GroupRows()), map(as_logged, of_group), 0, facts
        )
    }
    return [in_the_table(row, reason=found.get(row["source_offset"], "mirrored")) for row in rows]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tables_with(tmp_path_factory.mktemp("mirrored"), mirrored_rows())


def tables_with(folder: Path, rows: list[dict[str, Any]]) -> Path:
    for table in TABLES:
        table.create_on_disk(folder / table.name)
    log = pa.Table.from_pylist(rows, COORDINATOR_LOG.no_rows().schema)
    write_deltalake(folder / COORDINATOR_LOG.name, log, mode="append")
    return folder


def damaged(row: dict[str, Any]) -> dict[str, Any]:
    """A message of the same group, time and place in another partition, of which only the key could be read."""
    raw = {
        "record_type": -3,
        "key": '{"type":-3,"data":{"raw":"AAE=","fault":"damaged"}}',
        "value": row["value"] and '{"version":0,"data":{"raw":"AAk="}}',
        "source_partition": 1,
        "reason": "mirrored",
        "inferred": False,
    }
    return row | dict.fromkeys(("topic", "partition", "member_id", "offset")) | raw


OF_LOG = [
    *("offset_changes", "recent_changes", "lost_offsets", "audit", "group_timeline"),
    *("rebalances", "commit_rate", "lag_history"),
]
LOST = "SELECT group_id, topic, `partition`, last_offset, reason, inferred FROM lost_offsets ORDER BY lost_at, last_offset"
AUDIT = "SELECT group_id, `before`, `after`, change, client_id, inferred FROM audit ORDER BY at"
TIMELINE = "SELECT group_id, what, members, generation_or_epoch, detail, inferred FROM group_timeline ORDER BY batch_id, seq"
REBALANCES = "SELECT group_id, group_type, generation_or_epoch, how, is_superseded, cause, members_joined, members_left, partitions_moved, inferred FROM rebalances ORDER BY batch_id, seq"


def test_what_was_lost_says_that_its_reason_is_inferred(root: Path) -> None:
    assert of_group("part deleted", root, LOST) == [
        ("refunds", 1, 21, "offset-deleted", True),
        ("refunds", 0, 20, "offset-deleted", True),
        ("orders", 0, 22, "offset-expired", True),
    ]
    assert of_group("reader of gone", root, LOST) == [
        ("gone", 0, 33, "topic-deleted", True),
        ("gone", 1, 34, "topic-deleted", True),
    ]


def test_what_an_administrator_sets_is_told_from_what_a_member_goes_back(root: Path) -> None:
    assert of_group("moved classic", root, AUDIT) == [
        (60, 55, "rewind", "moved classic-client", False),
        (55, 10, "reset", None, False),
    ]
    assert of_group("moved consumer", root, AUDIT) == [
        (60, 55, "rewind", "moved consumer-client", False),
        (55, 10, "reset", None, False),
    ]


def test_a_group_that_becomes_one_of_another_kind_and_back_has_one_life(root: Path) -> None:
    assert of_group("converted online", root, TIMELINE) == [
        ("created", 0, 0, "mirrored", False),
        ("rebalanced", 1, 1, "mirrored", False),
        ("converted", 1, 1, "to a consumer group: mirrored", False),
        ("rebalanced", 2, 2, "mirrored", False),
        ("converted", 1, 2, "to a classic group: mirrored", False),
        ("rebalanced", 1, 3, "mirrored", False),
    ]


def test_each_life_of_a_group_ends_with_its_inferred_reason(root: Path) -> None:
    assert of_group("simple deleted", root, TIMELINE) == [
        ("created", 0, None, "mirrored", False),
        ("deleted", 0, None, "group-deleted", True),
        ("created", 0, None, "mirrored", False),
        ("expired", 0, None, "group-expired", True),
    ]


@pytest.mark.parametrize(
    ("ends", "told"),
    [
        (True, [("deleted", "mirrored", True), ("created", "mirrored", False)]),
        (False, [("emptied", "mirrored", False)]),
    ],
)
def test_a_group_that_ended_in_a_gap_has_an_end(
    tmp_path: Path,
    ends: bool,  # noqa: FBT001 - a value of pytest's table
    told: list[tuple[str, str, bool]],
) -> None:
    """The gap repair infers the end. The tombstone of a group that has another type now is not inferred (continuity.py)."""
    epochs = [row for row in mirrored_rows() if row["record_type"] == 3 and row["value"]]
    by_group = groupby(
        sorted(epochs, key=itemgetter("group_id", "seq")), key=itemgetter("group_id")
    )
    first, second = next(pair for _, rows in by_group if len(pair := [*rows][:2]) == 2)
    lost = first | {"value": None, "inferred": ends, "batch_id": first["batch_id"] + 1}
    later = second | {"batch_id": first["batch_id"] + 2}
    root = tables_with(tmp_path, [first, lost, later])

    found = of_group(first["group_id"], root, TIMELINE)

    assert found[0][0] == "created"
    assert [(row[0], row[-2], row[-1]) for row in found[1:]] == told


def test_the_life_of_a_streams_group(root: Path) -> None:
    """It gets its tasks when its topics are there, by a second rebalance."""
    assert [row[:3] for row in of_group("streams-expires", root, TIMELINE)] == [
        ("created", 1, None),
        ("joined", 1, None),
        ("rebalanced", 1, 2),
        ("rebalanced", 1, 3),
        ("left", 0, 3),
        ("emptied", 0, 4),
        ("expired", 0, 4),
    ]


def test_rebalances_have_causes_that_the_records_show(root: Path) -> None:
    """Partitions of a share group have no owner, and its third epoch has a cause that no record shows."""
    assert of_group("converted online", root, REBALANCES) == [
        ("classic", 1, "at-least", False, "joined", 1, 0, None, True),
        ("consumer", 2, "exact", False, "joined", 1, 0, 1, True),
        ("classic", 3, "at-least", False, "left", 0, 1, None, True),
    ]
    assert of_group("streams-expires", root, REBALANCES) == [
        ("streams", 2, "exact", True, "joined", 1, 0, 0, True),
        ("streams", 3, "exact", False, "topics", 0, 0, 4, True),
        ("streams", 4, "exact", False, "left", 0, 1, 0, True),
    ]
    assert of_group("share deleted", root, REBALANCES) == [
        ("share", 2, "exact", False, "joined", 1, 0, None, True),
        ("share", 3, "exact", False, None, 0, 0, None, False),
        ("share", 4, "exact", False, "left", 0, 1, None, True),
    ]


@pytest.mark.parametrize("member", [(), (record_types.STREAMS_MEMBER_METADATA,)])
def test_the_first_poll_of_a_streams_group_shows_no_cause(
    member: tuple[int, ...], tmp_path: Path
) -> None:
    """Its member and topology seem to be new, but both may be as old as the group."""
    polled_types = {record_types.STREAMS_GROUP_EPOCH, record_types.STREAMS_TOPOLOGY, *member}
    rows = mirrored_rows()
    at = {"event_time": rows[-1]["event_time"], "reason": "observed"}
    newest = {
        row["record_type"]: row | at
        for row in rows
        if row["group_id"] == "streams-expires"
        and row["value"]
        and row["record_type"] in polled_types
    }

    polled = tables_with(tmp_path, [*newest.values()])

    assert of_group("streams-expires", polled, REBALANCES) == [
        ("streams", 4, "at-least", False, None, None, None, None, False)
    ]


def test_an_empty_group_may_repeat_its_number_in_another_protocol(root: Path) -> None:
    assert [row[:2] for row in of_group("converted empty", root, REBALANCES)] == [
        ("classic", 1),
        ("classic", 2),
        ("consumer", 2),
        ("consumer", 3),
        ("classic", 1),
        ("classic", 2),
    ]


def of_group(group_id: str, root: Path, sql: str) -> list[tuple[Any, ...]]:
    """The answer without the group, whose rows alone are in it."""
    return [tuple(row) for of, *row in asked(root, sql) if of == group_id]


def test_messages_that_could_not_be_decoded_change_no_answer(root: Path, tmp_path: Path) -> None:
    """Beside each row of the log there is one."""
    rows = mirrored_rows()
    beside = tables_with(tmp_path, [*rows, *map(damaged, rows)])
    config = settings.load(overrides=["offsets.retention.ms=60000"]).coordinator
    end = AsOfTime(max(row["event_time"] for row in rows), config)

    for name, at in (
        *((table.name, end) for table in COMPACTED),
        *((view, None) for view in OF_LOG),
    ):
        whole, more = (
            sorted(map(repr, query(str(of), f"SELECT * FROM {name}", at).to_pylist()))  # noqa: S608 - our own names
            for of in (root, beside)
        )
        assert more == whole
        assert whole or name in {"group_configs", "recent_changes", "lag_history"}
    assert what_if(str(beside), end) == what_if(str(root), end)
