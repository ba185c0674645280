from __future__ import annotations

from copy import deepcopy

import pytest

from group_coordinator.core import coordinator
from group_coordinator.core.model.classic_member import ReplyAddress
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.records import GroupRecord, OffsetRecord, Reason
from group_coordinator.core.model.requests import Heartbeat, RequestContext, Tick
from group_coordinator.core.model.responses import HeartbeatResponse, Reply
from group_coordinator.testing import GroupDriver
from tests.unit.core.groups_in_every_state import membership_of, state_of

TICKET = ReplyAddress("topic-0-1", "c-1", 4)


def context(now_ms: int) -> RequestContext:
    return RequestContext(
        now_ms=now_ms,
        ticket=TICKET,
        client_id="client",
        client_host="/127.0.0.1",
        fresh_id="0",
        fresh_short_id="0",
    )


# Requests.


def test_a_refusal_is_a_reply_without_records() -> None:
    driver = GroupDriver()
    request = Heartbeat("g", 1, "nobody", None)

    step = coordinator.handle(driver.group, request, context(7), driver.config)

    refused = Reply(TICKET, HeartbeatResponse(ErrorCode.UNKNOWN_MEMBER_ID))
    assert step == coordinator.Step(7, [], [refused])


def test_a_tick_is_time_and_nothing_else() -> None:
    driver = GroupDriver()
    driver.form()
    before = deepcopy(membership_of(driver))

    step = coordinator.handle(driver.group, Tick("g"), context(4_000), driver.config)

    assert step == coordinator.Step(4_000, [], [])
    assert membership_of(driver) == before
    assert driver.group.clock_ms == 4_000


# The order of deadlines.


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_timers_of_one_millisecond_fire_in_the_order_they_were_set(order: tuple[int, int]) -> None:
    driver = GroupDriver()
    ids = driver.form(2)
    first, second = (ids[place] for place in order)
    driver.heartbeat(first, 1)
    driver.heartbeat(second, 1)

    steps = coordinator.advance(driver.group, 16_000, driver.config)

    assert next(steps).at_ms == 16_000
    assert list(membership_of(driver).members) == [second]
    assert next(steps).at_ms == 16_000
    assert list(membership_of(driver).members) == []


def test_deadlines_fire_in_the_order_of_time_each_at_its_own() -> None:
    driver = GroupDriver(offsets_retention_ms=60_000, offsets_retention_check_interval_ms=1_000)
    (member_id,) = driver.form()
    driver.commit({"orders": {0: 1}, "refunds": {0: 1}}, member_id, 1, retention_ms=90_000)

    steps = list(coordinator.advance(driver.group, 1_000_000, driver.config))

    assert [(step.at_ms, [record.reason for record in step.records]) for step in steps] == [
        (13_000, [Reason.SESSION_TIMEOUT]),
        (93_000, [Reason.OFFSET_EXPIRED, Reason.OFFSET_EXPIRED, Reason.GROUP_EXPIRED]),
    ]


def test_an_overdue_deadline_fires_now_and_not_in_the_past() -> None:
    driver = GroupDriver()
    (member_id,) = driver.form()
    coordinator.handle(driver.group, Tick("g"), context(20_000), driver.config)

    (step,) = coordinator.advance(driver.group, 20_000, driver.config)

    assert step.at_ms == 20_000
    (record,) = step.records
    assert isinstance(record, GroupRecord)
    assert record.value is not None
    assert record.value.state_timestamp_ms == 20_000
    assert member_id not in membership_of(driver).members


def test_nothing_fires_before_its_time() -> None:
    driver = GroupDriver()
    driver.form()

    assert list(coordinator.advance(driver.group, 12_999, driver.config)) == []
    assert driver.group.clock_ms == 3_000


def test_a_group_that_is_gone_waits_for_nothing() -> None:
    driver = GroupDriver()
    driver.commit({"orders": {0: 1}})
    driver.delete()

    assert coordinator.next_deadline(driver.group, driver.config) is None
    assert list(coordinator.advance(driver.group, 10**15, driver.config)) == []


def test_where_kafka_leaves_the_order_to_chance_it_is_that_of_the_ids() -> None:
    driver = GroupDriver()
    joins = []
    for client_id in ("c", "a", "b"):
        driver.client_id = client_id
        joins.append(driver.join(version=3))
    by_id = [joins[place].correlation_id for place in (1, 2, 0)]

    joined = driver.at(6_000)
    assert list(joined.responses) == by_id
    leader, first, second = [driver.response_to(join).member_id for join in joins]
    assert [m.member_id for m in driver.response_to(joins[0]).members] == [first, second, leader]

    syncs = [driver.sync(member_id, 1) for member_id in (second, first, leader)]
    assert list(syncs[2].responses) == [syncs[place].correlation_id for place in (1, 0, 2)]
    (record,) = syncs[2].records
    assert isinstance(record, GroupRecord)
    assert record.value is not None
    assert [member.member_id for member in record.value.members] == [first, second, leader]
    assert [m.member_id for m in driver.describe().response.members] == [first, second, leader]

    driver.leave(leader)
    assert membership_of(driver).leader == first


# The bound that saves the search for deadlines.


def test_the_group_is_never_woken_too_late() -> None:
    driver = GroupDriver(offsets_retention_ms=60_000, offsets_retention_check_interval_ms=1_000)
    (member_id,) = driver.form(topics=["orders"])
    for step in (
        lambda: driver.commit({"refunds": {0: 1}}, member_id, 1),
        lambda: driver.commit({"refunds": {1: 1}}, member_id, 1, retention_ms=5_000, version=4),
        lambda: driver.heartbeat(member_id, 1),
        lambda: driver.sleep(9_000),
        lambda: driver.heartbeat(member_id, 1),
        lambda: driver.commit({"refunds": {0: 2}}, member_id, 1),
        lambda: driver.delete_offsets({"refunds": [0]}),
        lambda: driver.join(member_id, topics=["refunds"]),
        lambda: driver.sync(member_id, 2),
        lambda: driver.leave(member_id),
        lambda: driver.commit({"orders": {0: 1}}),
        lambda: driver.sleep(60_000),
        lambda: driver.commit({"orders": {0: 1}}),
    ):
        step()
        bound_ms = driver.group.wake_ms
        deadline_ms = driver.next_deadline_ms
        assert deadline_ms is None or bound_ms <= deadline_ms


def test_where_the_deadline_is_known_it_is_the_bound() -> None:
    driver = GroupDriver()
    driver.form()

    assert driver.next_deadline_ms == 13_000
    assert driver.group.wake_ms == 13_000


def test_after_an_early_wake_the_bound_is_put_right() -> None:
    driver = GroupDriver()
    driver.form()
    driver.group.wake_ms = 0

    assert list(coordinator.advance(driver.group, 5_000, driver.config)) == []
    assert driver.group.wake_ms == 13_000


# The way out after a defect.


def test_dropped_deadlines_have_no_effect_and_later_ones_stay() -> None:
    driver = GroupDriver()
    first, second = driver.form(2)
    driver.at(7_000)
    driver.heartbeat(second, 1)

    coordinator.drop_deadlines(driver.group, 16_000)

    assert driver.group.clock_ms == 16_000
    assert driver.next_deadline_ms == 17_000
    assert list(coordinator.advance(driver.group, 16_999, driver.config)) == []
    assert set(membership_of(driver).members) == {first, second}


def test_a_dropped_sweep_comes_again_with_the_next_one() -> None:
    driver = GroupDriver(offsets_retention_ms=60_000, offsets_retention_check_interval_ms=1_000)
    driver.commit({"orders": {0: 1}})

    coordinator.drop_deadlines(driver.group, 60_000)

    assert driver.next_deadline_ms == 61_000
    assert driver.at(61_000).records[0] == OffsetRecord("orders", 0, None, Reason.OFFSET_EXPIRED)


def test_dropping_deadlines_never_turns_the_clock_back() -> None:
    driver = GroupDriver()
    driver.form()

    coordinator.drop_deadlines(driver.group, 1)

    assert driver.group.clock_ms == 3_000
    assert driver.next_deadline_ms == 13_000


def test_where_there_is_no_group_there_is_nothing_to_drop() -> None:
    group = Group("g")

    coordinator.drop_deadlines(group, 5)

    assert group == Group("g", clock_ms=5)


def test_a_member_without_a_session_timer_gets_one_with_its_next_heartbeat() -> None:
    driver = GroupDriver()
    (member_id,) = driver.form()
    coordinator.drop_deadlines(driver.group, 13_000)
    assert driver.next_deadline_ms is None

    driver.at(14_000)
    assert driver.heartbeat(member_id, 1).response.error is ErrorCode.NONE

    driver.at(23_999)
    assert str(state_of(driver)) == "Stable"
    driver.at(24_000)
    assert str(state_of(driver)) == "Empty"
