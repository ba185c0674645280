from __future__ import annotations

import json

import pytest

from group_coordinator.codecs import snapshots
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.timers import Timer, session_timer
from group_coordinator.runtime.group_call import (
    STATE_VERSION,
    OperatorInput,
    OperatorResult,
    SortedEvents,
    StoredState,
    call_group,
)
from group_coordinator.runtime.outputs import EVENT, HEADER, pack_seed
from group_coordinator.testing import GroupDriver
from tests.support.group_updates import lines_of, update_context
from tests.unit.core.groups_in_every_state import membership_of

HOUR_MS = 3_600_000


def stable_group() -> Group:
    """Of one member, whose session of 10 s began at 3,000."""
    driver = GroupDriver("g")
    driver.form(1)
    driver.commit({"orders": {0: 42}}, *membership_of(driver).members, 1)
    return driver.group


def seed_with(group: Group) -> bytes:
    return pack_seed(snapshots.dump(group))


def heartbeat(member_id: str, at_ms: int) -> bytes:
    return event("Heartbeat", 3, at_ms, groupId="g", generationId=1, memberId=member_id)


def event(api: str, version: int, at_ms: int = HOUR_MS, **body: object) -> bytes:
    """At the beginning of partition 0."""
    content = {"api": api, "version": version, "correlationId": "c-1", "body": body}
    value = json.dumps(content).encode()
    return HEADER.pack(0, 0, at_ms, EVENT, len(value)) + value


def call(
    *packed: bytes, batch_time_ms: int = HOUR_MS, stored: StoredState | None = None
) -> OperatorResult:
    return call_group(
        OperatorInput("g", stored, SortedEvents(packed), batch_time_ms, has_timed_out=False),
        update_context(),
    )


def group_after(result: OperatorResult) -> Group:
    assert result.state is not None
    assert result.state.version == STATE_VERSION
    return snapshots.load("g", result.state.snapshot)


def test_a_seed_is_kept_and_the_sessions_begin_with_the_batch() -> None:
    before = stable_group()
    ((member_id, member),) = before.membership.members.items() if before.membership else ()

    result = call(seed_with(before))

    loaded = group_after(result)
    assert (list(result.pieces), result.timeout_ms) == ([], member.session_timeout_ms + 999)
    assert loaded.offsets == before.offsets
    assert loaded.clock_ms == before.clock_ms
    assert loaded.membership is not None
    assert loaded.membership.members == {member_id: member}
    session_ends_ms = HOUR_MS + member.session_timeout_ms
    assert loaded.membership.timers == {session_timer(member_id): Timer(session_ends_ms, HOUR_MS)}


@pytest.mark.parametrize("sent_ms", [-1, 0, 3_999])
def test_events_of_the_same_call_come_after_the_seed(sent_ms: int) -> None:
    before = stable_group()
    (member_id,) = before.membership.members if before.membership else ()

    result = call(heartbeat(member_id, sent_ms), seed_with(before), batch_time_ms=4_000)

    (text,) = lines_of(result)
    answer = json.loads(text[1:])
    assert answer["body"]["errorCode"] == 0
    assert group_after(result).clock_ms == max(sent_ms, before.clock_ms)


def test_a_rebuilt_group_that_ends_in_its_first_call_leaves_nothing() -> None:
    before = GroupDriver("g")
    before.commit({"orders": {0: 1}})

    result = call(event("DeleteGroups", 1, groupsNames=["g"]), seed_with(before.group))

    assert [line[0] for line in lines_of(result)] == ["L", "L", "R"]
    assert result.state is None


def test_only_what_has_changed_is_written() -> None:
    first = call(heartbeat("nobody", 3_000), seed_with(stable_group()), batch_time_ms=4_000)
    assert first.write

    again = call(heartbeat("nobody", 3_000), batch_time_ms=4_000, stored=first.state)

    assert [line[0] for line in lines_of(again)] == ["R"]
    assert (again.write, again.state) == (False, None)


def test_a_seed_does_not_replace_a_state() -> None:
    kept = StoredState(STATE_VERSION, snapshots.dump(stable_group()))
    other = GroupDriver("g")
    other.commit({"orders": {0: 1}})

    result = call(seed_with(other.group), batch_time_ms=4_000, stored=kept)

    assert (list(result.pieces), result.write) == ([], False)
