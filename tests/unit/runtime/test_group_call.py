from __future__ import annotations

import json

from group_coordinator.codecs import snapshots
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.timers import Timer
from group_coordinator.runtime.group_call import (
    STATE_VERSION,
    CallResult,
    GroupCall,
    OperatorSettings,
    StoredState,
    call_group,
)
from group_coordinator.runtime.packing import HEADER, pack_load
from group_coordinator.runtime.update_group import UpdateContext
from group_coordinator.settings import load
from group_coordinator.testing import GroupDriver
from tests.unit.core.groups_in_every_state import membership_of

CONTEXT = UpdateContext(load().coordinator, "group-events", timer_slack_ms=1_000, timers_hold=False)
HOUR_MS = 3_600_000


def stable_group() -> Group:
    """Of one member, whose session of 10 s began at 3,000."""
    driver = GroupDriver("g")
    driver.form(1)
    driver.commit({"orders": {0: 42}}, *membership_of(driver).members, 1)
    return driver.group


def load_of(group: Group) -> bytes:
    return pack_load(snapshots.dump(group))


def heartbeat(member_id: str, at_ms: int) -> bytes:
    body = {"groupId": "g", "generationId": 1, "memberId": member_id}
    event = {"api": "Heartbeat", "version": 3, "correlationId": "c-1", "body": body}
    value = json.dumps(event).encode()
    return HEADER.pack(0, 0, at_ms, 0, len(value)) + value


def call(
    *packed: bytes, batch_time_ms: int = HOUR_MS, stored: StoredState | None = None
) -> CallResult:
    return call_group(
        GroupCall("g", stored, list(packed), batch_time_ms, has_timed_out=False),
        OperatorSettings(CONTEXT, ()),
    )


def group_after(result: CallResult) -> Group:
    assert result.state is not None
    assert result.state.version == STATE_VERSION
    return snapshots.load("g", result.state.snapshot)


def test_a_load_is_kept_and_the_sessions_begin_with_the_batch() -> None:
    before = stable_group()
    ((member_id, member),) = before.membership.members.items() if before.membership else ()

    result = call(load_of(before))

    loaded = group_after(result)
    assert (list(result.texts), result.timeout_ms) == ([], member.session_timeout_ms + 999)
    assert loaded.offsets == before.offsets
    assert loaded.clock_ms == before.clock_ms
    assert loaded.membership is not None
    assert loaded.membership.members == {member_id: member}
    session_ends_ms = HOUR_MS + member.session_timeout_ms
    assert loaded.membership.timers == {f"session:{member_id}": Timer(session_ends_ms, HOUR_MS)}


def test_events_of_the_same_call_come_after_the_load() -> None:
    before = stable_group()
    (member_id,) = before.membership.members if before.membership else ()

    result = call(heartbeat(member_id, HOUR_MS - 1), load_of(before))

    (text,) = result.texts
    answer = json.loads(text[1:])
    assert answer["body"]["errorCode"] == 0
    assert group_after(result).clock_ms == HOUR_MS - 1


def test_a_load_does_not_replace_a_state() -> None:
    kept = StoredState(STATE_VERSION, snapshots.dump(stable_group()))
    other = GroupDriver("g")
    other.commit({"orders": {0: 1}})

    result = call(load_of(other.group), batch_time_ms=4_000, stored=kept)

    assert (list(result.texts), result.write) == ([], False)
