"""Offsets of an earlier time against present offsets and logs: the plan, its execution, and the reset that a restore undoes."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from kafka import OffsetAndMetadata, TopicPartition

from group_coordinator.clients.errors import (
    NotRestorableError,
    RequestTimedOutError,
    UnknownMemberIdError,
)
from group_coordinator.clients.past_offsets import PastOffset, Reset, Topics, newest_reset
from group_coordinator.clients.restore import (
    GroupPlan,
    Logs,
    Offsets,
    RestoredOffset,
    check_inactive,
    executed,
    planned,
)

A, B, C, D, E, F, G = (TopicPartition("orders", number) for number in range(7))
GONE, AGAIN, HIDDEN = (TopicPartition(topic, 0) for topic in ("gone", "again", "hidden"))
LOGS = Logs(
    starts=dict.fromkeys((A, B, C, D, E, AGAIN), 10),
    ends=dict.fromkeys((A, B, C, D, E, AGAIN), 50),
    existing={A, B, C, D, E, F, AGAIN},
    topic_ids={"orders": "orders-id", "again": "second-id", "gone": None},
)
"""F has no leader, and G does not exist."""


def at(offset: int, metadata: str = "", leader_epoch: int = -1) -> OffsetAndMetadata:
    return OffsetAndMetadata(offset, metadata, leader_epoch)


def plan(now: Offsets, then: Offsets, topic_id: str | None = None) -> list[RestoredOffset]:
    past = {one: PastOffset(committed, topic_id) for one, committed in then.items()}
    return planned(GroupPlan("billing", now, past, then), LOGS)


def test_each_offset_becomes_that_of_then_within_its_log() -> None:
    now = {A: at(20), B: at(20), C: at(20), D: at(20)}
    then = {A: at(40, "page 4", 3), B: at(5, "page 0", 1), C: at(51, "page 9", 3), E: at(30)}

    rows = plan(now, then)

    assert [(row.partition, row.now, row.then, row.new_offset, row.note) for row in rows] == [
        (A, 20, 40, 40, ""),
        (B, 20, 5, 10, "before the log's start: the first record that is left"),
        (C, 20, 51, 50, "beyond the log's end: the end"),
        (D, 20, None, 20, "had no offset then: stays as it is"),
        (E, None, 30, 30, ""),
    ]
    # Metadata and epoch belong to another record.
    assert [row.target for row in rows[:3]] == [at(40, "page 4", 3), at(10), at(50)]


def test_what_cannot_be_restored_stays_as_it_is() -> None:
    then = {GONE: at(1), G: at(1), AGAIN: at(20), F: at(20), HIDDEN: at(20)}
    past = {
        one: PastOffset(committed, "first-id" if one == AGAIN else None)
        for one, committed in then.items()
    }

    rows = planned(GroupPlan("billing", {AGAIN: at(30)}, past, then), LOGS)

    assert [(row.partition, row.new_offset, row.note, row.is_failed) for row in rows] == [
        (AGAIN, 30, "the topic was created again since then: stays as it is", False),
        (GONE, None, "the topic does not exist: stays as it is", False),
        (HIDDEN, None, "the topic is hidden from this user", True),
        (F, None, "the partition has no leader", True),
        (G, None, "the partition does not exist: stays as it is", False),
    ]


def test_the_same_topic_id_is_the_same_topic() -> None:
    [row] = plan({A: at(20)}, {A: at(40)}, "orders-id")

    assert (row.new_offset, row.note) == (40, "")


def test_an_offset_without_a_mapping_stays() -> None:
    past = {A: PastOffset(at(40), None)}

    [row] = planned(GroupPlan("billing", {A: at(20)}, past, {}), LOGS)

    assert (row.new_offset, row.note) == (
        20,
        "the source has no record with a timestamp: stays as it is",
    )


@pytest.mark.parametrize(
    ("now", "then", "target", "note"),
    [
        (at(40, "page 4", 3), at(40, "page 4", 3), None, "unchanged"),
        (OffsetAndMetadata(40, None, None), at(40), None, "unchanged"),
        (at(40), at(40, "page 4"), at(40, "page 4"), "only metadata or leader epoch differ"),
        (at(40, "", 2), at(40, "", 3), at(40, "", 3), "only metadata or leader epoch differ"),
        (
            at(10, "page 0"),
            at(5),
            None,
            "before the log's start: the first record that is left; unchanged",
        ),
    ],
)
def test_an_offset_that_is_already_right_is_not_written(
    now: OffsetAndMetadata, then: OffsetAndMetadata, target: OffsetAndMetadata | None, note: str
) -> None:
    [row] = plan({A: now}, {A: then})

    assert (row.target, row.note) == (target, note)


class Broker:
    """Groups whose coordinator has an error for a partition, and no response for a group."""

    def __init__(self) -> None:
        self.written: dict[str, Offsets] = {}

    def states(self, group_ids: list[str]) -> dict[str, str]:
        states = {"a": "Empty", "b": "Dead", "c": "Stable", "d": "Reconciling"}
        return {group_id: states[group_id] for group_id in group_ids}

    def commit(self, group_id: str, offsets: Offsets) -> Mapping[TopicPartition, str]:
        if group_id == "silent":
            raise RequestTimedOutError("no response within 20 s")
        self.written[group_id] = offsets
        return {B: str(UnknownMemberIdError())} if B in offsets else {}


def test_errors_are_in_their_rows_and_all_other_offsets_are_written() -> None:
    broker = Broker()
    rows = [
        RestoredOffset("billing", A, 20, 40, at(40)),
        RestoredOffset("billing", B, 20, 40, at(40)),
        RestoredOffset("billing", C, 20, 20, None, "unchanged"),
        RestoredOffset("silent", A, 20, 40, at(40)),
        RestoredOffset("wages", A, 20, 5, at(10), "before the log's start"),
        RestoredOffset("wages", D, 20, None, None, "had no offset then"),
    ]

    done = executed(broker, rows)  # type: ignore[arg-type]

    assert [(row.is_written, row.is_failed, row.note) for row in done] == [
        (True, False, ""),
        (False, True, "The coordinator is not aware of this member."),
        (False, False, "unchanged"),
        (False, True, "perhaps not written: no response within 20 s"),
        (True, False, "before the log's start"),
        (False, False, "had no offset then"),
    ]
    assert broker.written == {"billing": {A: at(40), B: at(40)}, "wages": {A: at(10)}}


def test_groups_with_members_are_named() -> None:
    with pytest.raises(NotRestorableError) as refused:
        check_inactive(Broker(), ["a", "b", "c", "d"], str.upper)  # type: ignore[arg-type]

    assert str(refused.value) == (
        "C is Stable, D is Reconciling: members would commit over restored offsets, so nothing is restored: end the "
        "members, and repeat the command when the group is Empty"
    )


def second(number: int) -> datetime:
    return datetime(2024, 1, 2, 3, 4, number, tzinfo=UTC)


def changed(
    at_s: int, one: TopicPartition, before: int | None, after: int | None, change: str = "reset"
) -> dict[str, Any]:
    """A row of the view audit."""
    return {
        "at": second(at_s),
        "topic": one.topic,
        "partition": one.partition,
        "before": before,
        "after": after,
        "change": change,
        "principal": "User:alice",
    }


RESET = [changed(1, A, 40, 0), changed(1, B, 60, 0)]


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        ([], None),
        (RESET, (1, "reset", 2)),
        ([*RESET, changed(5, C, 9, 3, "rewind")], (5, "rewind", 1)),
        ([*RESET, changed(5, A, 30, 10)], (5, "reset", 1)),
        # A restore of both, of one after the other, and of one whose record is gone.
        ([*RESET, changed(5, A, 0, 40), changed(5, B, 0, 60)], (1, "reset", 2)),
        ([*RESET, changed(5, A, 0, 40), changed(6, B, 0, 60)], (1, "reset", 2)),
        ([*RESET, changed(5, A, 0, 45), changed(5, B, 0, 60)], (1, "reset", 2)),
        # After the restore, a reset to the same offset as before is a reset.
        ([*RESET, changed(5, A, 0, 40), changed(9, A, 200, 40)], (9, "reset", 1)),
        # More partitions than were reset are no restore.
        ([*RESET, changed(5, A, 0, 40), changed(5, C, 7, 0)], (5, "reset", 2)),
        # Numbers below 0 are null.
        ([changed(1, A, None, 3), changed(2, A, 3, None)], (2, "reset", 1)),
    ],
)
def test_the_newest_reset_is_one_that_is_no_restore(
    rows: list[dict[str, Any]], found: tuple[int, str, int] | None
) -> None:
    expected = found and Reset(second(found[0]), found[1], "User:alice", found[2])

    assert newest_reset(rows, {}) == expected


@pytest.mark.parametrize(
    ("topics", "seconds"),
    [
        ({"orders": None}, 5),
        ({"orders": {0, 1}}, 1),
        ({"orders": {2}}, 5),
        ({"refunds": None}, None),
    ],
)
def test_only_chosen_partitions_count(topics: Topics, seconds: int | None) -> None:
    found = newest_reset([*RESET, changed(5, C, 9, 3)], topics)

    assert (None if found is None else found.at) == (None if seconds is None else second(seconds))


def test_the_time_before_a_reset_is_a_millisecond_earlier() -> None:
    reset = Reset(second(5), "reset", None, 1)

    assert reset.time_before == datetime(2024, 1, 2, 3, 4, 4, 999_000, tzinfo=UTC)
