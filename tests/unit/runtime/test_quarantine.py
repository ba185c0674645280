"""A group that cannot be read, or not be written again, is left as it is: alone, whole, and counted."""

from __future__ import annotations

import json
from typing import NoReturn

import pytest
from msgspec import msgpack

from group_coordinator.codecs import snapshots
from group_coordinator.codecs.snapshots import SnapshotVersionError
from group_coordinator.core import coordinator
from group_coordinator.core.handlers import offset_commit
from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.consumer_member import (
    ConsumerMember,
    CurrentAssignment,
    ReconciliationState,
)
from group_coordinator.core.model.group import Group
from group_coordinator.runtime import group_call
from group_coordinator.runtime.group_call import (
    STATE_VERSION,
    OperatorInput,
    OperatorResult,
    SortedEvents,
    StoredState,
    call_group,
)
from group_coordinator.runtime.outputs import EVENT, HEADER, pack_seed
from group_coordinator.runtime.update_group import UnknownStateVersionError
from group_coordinator.testing import GroupDriver
from tests.support.group_updates import lines_of, update_context

DAY_MS = 86_400_000
NOW_MS = 5_000
COMMIT = {
    "groupId": "g",
    "topics": [{"name": "orders", "partitions": [{"partitionIndex": 0, "committedOffset": 1}]}],
}


def packed(offset: int) -> bytes:
    return packed_event(offset, {"api": "OffsetCommit", "version": 8, "body": COMMIT})


def fetched(topic: str) -> bytes:
    topics = [{"name": topic, "partitionIndexes": [0]}]
    body = {"groupId": "g", "topics": topics}
    return packed_event(7, {"api": "OffsetFetch", "version": 7, "body": body})


def packed_event(offset: int, event: dict[str, object]) -> bytes:
    value = json.dumps(event | {"correlationId": "c"}).encode()
    return HEADER.pack(0, offset, NOW_MS, EVENT, len(value)) + value


def call(
    stored: StoredState | None, *events: bytes, now_ms: int = NOW_MS, has_timed_out: bool = False
) -> OperatorResult:
    given = OperatorInput("g", stored, SortedEvents(events), now_ms, has_timed_out)
    return call_group(given, update_context())


def a_group() -> StoredState:
    driver = GroupDriver("g")
    driver.commit({"orders": {0: 42}})
    return StoredState(STATE_VERSION, snapshots.dump(driver.group))


def letters(result: OperatorResult) -> list[tuple[int | None, str]]:
    lines = lines_of(result)
    assert {line[0] for line in lines} == {"D"}
    bodies = [json.loads(line[1:]) for line in lines]
    return [(body["source_offset"], body["reason"]) for body in bodies]


def fail(*_: object) -> NoReturn:
    raise ZeroDivisionError("planted")


def test_damaged_state_is_kept_and_the_events_are_dead_letters() -> None:
    damaged = StoredState(STATE_VERSION, b"\xc1 no snapshot")

    result = call(damaged, packed(7), packed(8))

    reason = "defect: SnapshotError: the state of group 'g' is not readable"
    assert letters(result) == [(None, reason), (7, reason), (8, reason)]
    assert (result.write, result.state, result.timeout_ms) == (True, damaged, DAY_MS)


def test_damage_in_one_part_of_the_state_concerns_calls_about_it_alone() -> None:
    driver = GroupDriver("g")
    driver.commit({"orders": {0: 42}, "bills": {0: 43}})
    layout = msgpack.decode(snapshots.dump(driver.group))
    layout[2]["bills"][3] = "no offsets"
    damaged = StoredState(STATE_VERSION, msgpack.encode(layout))

    about_bills = call(damaged, packed(6), fetched("bills"))
    about_orders = call(damaged, fetched("orders"))

    reason = "defect: SnapshotError: the stored state of 'bills' is damaged: Expected `object`, got `str`"
    assert letters(about_bills) == [(None, reason), (6, reason), (7, reason)]
    assert (about_bills.write, about_bills.state) == (True, damaged)
    assert [line[0] for line in lines_of(about_orders)] == ["R"]


def test_what_an_event_did_before_it_met_damage_is_not_kept() -> None:
    membership = ConsumerGroup(epoch=5, assignment_epoch=5)
    for number, member_id in enumerate("ab"):
        has = CurrentAssignment(5, 4, ReconciliationState.STABLE, {"orders-id": {number: 5}}, {})
        membership.put(ConsumerMember(member_id, current=has))
    layout = msgpack.decode(snapshots.dump(Group("g", membership, topics={})))
    owners = layout[1][8]
    assert owners
    owners |= dict.fromkeys(owners, "no owners")
    damaged = StoredState(STATE_VERSION, msgpack.encode(layout))
    leave = {"groupId": "g", "memberId": "a", "memberEpoch": -1}

    result = call(
        damaged, packed_event(7, {"api": "ConsumerGroupHeartbeat", "version": 1, "body": leave})
    )

    assert [offset for offset, _ in letters(result)] == [None, 7]
    assert (result.write, result.state) == (True, damaged)


def test_a_timer_of_a_group_that_cannot_be_read_is_set_for_a_day() -> None:
    damaged = StoredState(STATE_VERSION, b"")

    result = call(damaged, has_timed_out=True)

    assert len(letters(result)) == 1
    assert (result.write, result.state, result.timeout_ms) == (True, damaged, DAY_MS)


@pytest.mark.parametrize("stored", [None, a_group()], ids=["new", "known"])
def test_a_group_that_cannot_be_written_again_stays_as_it_was(
    monkeypatch: pytest.MonkeyPatch, stored: StoredState | None
) -> None:
    monkeypatch.setattr(group_call.snapshots, "dump", fail)

    result = call(stored, packed(7))

    reason = "defect: ZeroDivisionError: planted"
    assert letters(result) == [(None, reason), (7, reason)]
    assert (result.write, result.state) == (stored is not None, stored)


def test_a_rebuilt_group_that_cannot_be_read_keeps_its_seed() -> None:
    result = call(None, pack_seed(b"no snapshot"), packed(7))

    assert [offset for offset, _ in letters(result)] == [None, 7]
    assert (result.write, result.state) == (True, StoredState(STATE_VERSION, b"no snapshot"))


def test_a_later_versions_state_stops_the_job() -> None:
    with pytest.raises(UnknownStateVersionError):
        call(StoredState(STATE_VERSION + 1, b""), packed(7))
    later = b"\x91" + bytes([snapshots.SCHEMA_VERSION + 1])
    with pytest.raises(SnapshotVersionError, match="has schema version 4; this program knows 3"):
        call(StoredState(STATE_VERSION, later), packed(7))


@pytest.mark.parametrize("failure", [MemoryError(), OSError("no space left on device")])
def test_what_this_machine_lacks_fails_the_task(
    monkeypatch: pytest.MonkeyPatch, failure: Exception
) -> None:
    """Another attempt, on another machine, may have it: nothing is written off as a dead letter."""

    def lack(*_: object) -> NoReturn:
        raise failure

    with monkeypatch.context() as patched:
        patched.setattr(offset_commit, "decide", lack)
        with pytest.raises(type(failure)):
            call(a_group(), packed(7))
    monkeypatch.setattr(coordinator, "fire", lack)
    with pytest.raises(type(failure)):
        call(a_group(), now_ms=10**15, has_timed_out=True)
