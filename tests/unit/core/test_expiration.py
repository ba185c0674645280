from __future__ import annotations

import pytest

from group_coordinator.core.errors import ErrorCode
from group_coordinator.core.expiration import (
    ExpirationRule,
    first_sweep_at_or_after,
    next_sweep,
    rule_for,
)
from group_coordinator.core.group import Group
from group_coordinator.core.records import GroupRecord, OffsetRecord, Reason
from group_coordinator.core.states import ClassicState
from group_coordinator.core.values import CommittedOffset
from group_coordinator.testing import GroupDriver
from tests.unit.core import messages
from tests.unit.core.messages import at_offset
from tests.unit.core.situations import membership_of, state_of

EMPTY, PREPARING, COMPLETING, STABLE = (
    ClassicState.EMPTY,
    ClassicState.PREPARING_REBALANCE,
    ClassicState.COMPLETING_REBALANCE,
    ClassicState.STABLE,
)
NONE: frozenset[str] = frozenset()
ORDERS = frozenset({"orders"})
BY_COMMIT = ExpirationRule("commit")
NEVER = ExpirationRule("never")
GROUP_GONE = GroupRecord(None, Reason.GROUP_EXPIRED)


def gone(topic: str, partition: int = 0) -> OffsetRecord:
    return OffsetRecord(topic, partition, None, Reason.OFFSET_EXPIRED)


def a_minute_of_retention(sweep_interval_ms: int = 1, **settings: int) -> GroupDriver:
    return GroupDriver(
        offsets_retention_ms=60_000,
        offsets_retention_check_interval_ms=sweep_interval_ms,
        **settings,
    )


def keep_alive(driver: GroupDriver, member_id: str, until_ms: int, generation: int = 1) -> None:
    while driver.now_ms < until_ms:
        driver.at(min(until_ms, driver.now_ms + 9_000))
        driver.heartbeat(member_id, generation)


# The rule.


@pytest.mark.parametrize(
    ("state", "protocol_type", "subscribed", "empty_since_ms", "rule"),
    [
        # A simple group.
        (EMPTY, None, None, 7, BY_COMMIT),
        (EMPTY, None, None, None, BY_COMMIT),
        # Consumers whose subscriptions are known.
        (EMPTY, "consumer", NONE, 7, ExpirationRule("empty", NONE, 7)),
        (EMPTY, "consumer", NONE, None, ExpirationRule("commit", NONE, None)),
        (EMPTY, "consumer", ORDERS, 7, ExpirationRule("empty", ORDERS, 7)),
        (PREPARING, "consumer", ORDERS, 7, NEVER),
        (COMPLETING, "consumer", ORDERS, 7, NEVER),
        (STABLE, "consumer", ORDERS, 7, ExpirationRule("commit", ORDERS)),
        (STABLE, "consumer", NONE, 7, ExpirationRule("commit", NONE)),
        # Consumers whose subscriptions are not known.
        (EMPTY, "consumer", None, 7, NEVER),
        (PREPARING, "consumer", None, 7, NEVER),
        (COMPLETING, "consumer", None, 7, NEVER),
        (STABLE, "consumer", None, 7, NEVER),
        # Groups of another kind, for example of Kafka Connect.
        (EMPTY, "connect", None, 7, ExpirationRule("empty", NONE, 7)),
        (EMPTY, "connect", None, None, ExpirationRule("commit", NONE, None)),
        (PREPARING, "connect", None, 7, NEVER),
        (COMPLETING, "connect", None, 7, NEVER),
        (STABLE, "connect", None, 7, NEVER),
    ],
)
def test_the_rule_of_every_situation(
    state: ClassicState,
    protocol_type: str | None,
    subscribed: frozenset[str] | None,
    empty_since_ms: int | None,
    rule: ExpirationRule,
) -> None:
    assert rule_for(state, protocol_type, subscribed, empty_since_ms) == rule


@pytest.mark.parametrize(
    ("rule", "expire_timestamp_ms", "due_ms"),
    [
        (BY_COMMIT, None, 1_100),
        (BY_COMMIT, 500, 500),
        (ExpirationRule("empty", NONE, 3_000), None, 3_100),
        (ExpirationRule("empty", NONE, 3_000), 500, 500),
        (ExpirationRule("commit", ORDERS), None, None),
        (ExpirationRule("commit", ORDERS), 500, None),
        (NEVER, None, None),
        (NEVER, 500, None),
    ],
)
def test_when_an_offset_is_due(
    rule: ExpirationRule, expire_timestamp_ms: int | None, due_ms: int | None
) -> None:
    offset = CommittedOffset(42, None, "", 1_000, expire_timestamp_ms, None)

    assert rule.due_ms("orders", offset, retention_ms=100) == due_ms


@pytest.mark.parametrize(
    ("time_ms", "sweep_ms"), [(0, 0), (1, 10), (9, 10), (10, 10), (11, 20), (-1, 0), (-10, -10)]
)
def test_sweeps_lie_on_a_grid(time_ms: int, sweep_ms: int) -> None:
    assert first_sweep_at_or_after(time_ms, interval_ms=10) == sweep_ms


def test_where_there_is_no_group_there_is_no_sweep() -> None:
    assert next_sweep(Group("g"), 0, GroupDriver().config) is None


# KIP-211: groups without members.


def test_a_simple_group_loses_offset_by_offset_and_ends_with_the_last() -> None:
    driver = a_minute_of_retention()
    driver.commit({"orders": {0: 1, 1: 1}})
    driver.at(30_000)
    driver.commit({"orders": {1: 2}})

    assert driver.at(59_999).records == ()
    assert driver.at(60_000).records == (gone("orders", 0),)
    assert driver.at(60_001).records == ()
    assert driver.at(89_999).records == ()
    assert driver.at(90_000).records == (gone("orders", 1), GROUP_GONE)
    assert driver.at(90_001).records == ()
    assert state_of(driver) is ClassicState.DEAD


def test_an_empty_group_loses_all_at_once_by_the_time_it_became_empty() -> None:
    driver = a_minute_of_retention()
    (member_id,) = driver.form()
    driver.commit({"orders": {1: 1, 0: 1}, "refunds": {0: 1}}, member_id, 1)
    driver.at(12_000)
    driver.leave(member_id)

    assert driver.at(71_999).records == ()
    assert driver.at(72_000).records == (
        gone("orders", 0),
        gone("orders", 1),
        gone("refunds", 0),
        GROUP_GONE,
    )
    assert driver.at(72_001).records == ()
    assert driver.describe().response.error is ErrorCode.GROUP_ID_NOT_FOUND


def test_a_group_that_fell_silent_is_empty_since_its_last_session_ended() -> None:
    driver = a_minute_of_retention()
    (member_id,) = driver.form()
    driver.commit({"orders": {0: 1}}, member_id, 1)

    assert len(driver.at(13_000).records) == 1
    assert driver.at(72_999).records == ()
    assert driver.at(73_000).records == (gone("orders"), GROUP_GONE)


def test_a_commit_to_an_empty_group_prolongs_nothing() -> None:
    driver = a_minute_of_retention()
    driver.leave(*driver.form())
    driver.commit({"orders": {0: 1}})
    driver.at(62_999)

    driver.commit({"orders": {0: 2, 1: 1}})

    assert driver.at(63_000).records == (gone("orders", 0), gone("orders", 1), GROUP_GONE)


def test_who_comes_back_in_time_stops_the_clock_and_who_leaves_again_starts_it_anew() -> None:
    driver = a_minute_of_retention()
    (member_id,) = driver.form()
    driver.commit({"orders": {0: 1}}, member_id, 1)
    driver.leave(member_id)
    driver.at(62_999)

    join = driver.join(version=3)
    driver.at(65_999)
    back = driver.response_to(join).member_id
    driver.sync(back, 3)
    keep_alive(driver, back, 200_000, generation=3)
    driver.leave(back)

    assert driver.at(259_999).records == ()
    assert driver.at(260_000).records == (gone("orders"), GROUP_GONE)


def test_an_id_that_was_only_given_out_does_not_stop_the_clock() -> None:
    driver = a_minute_of_retention()
    driver.leave(*driver.form())
    driver.commit({"orders": {0: 1}})
    driver.at(62_999)
    pending = driver.join().response.member_id

    assert driver.at(63_000).records == (gone("orders"), GROUP_GONE)
    assert driver.join(pending).response.error is ErrorCode.UNKNOWN_MEMBER_ID


def test_an_empty_group_without_offsets_goes_at_the_next_sweep() -> None:
    driver = a_minute_of_retention(sweep_interval_ms=5_000)
    (member_id,) = driver.form()
    driver.at(5_000)
    driver.leave(member_id)

    assert driver.at(9_999).records == ()
    assert driver.at(10_000).records == (GROUP_GONE,)


def test_an_empty_group_that_loses_its_last_offset_goes_at_the_next_sweep() -> None:
    driver = a_minute_of_retention(sweep_interval_ms=5_000)
    driver.commit({"orders": {0: 1}})
    driver.delete_offsets({"orders": [0]})

    assert driver.at(4_999).records == ()
    assert driver.at(5_000).records == (GROUP_GONE,)


def test_the_name_of_an_expired_group_is_free() -> None:
    driver = a_minute_of_retention()
    (member_id,) = driver.form()
    driver.leave(member_id)
    driver.at(60_000)

    assert driver.join(member_id).response.error is ErrorCode.UNKNOWN_MEMBER_ID
    join = driver.join(version=3)
    driver.sleep(3_000)
    assert driver.response_to(join).generation == 1


def test_an_unreadable_subscription_is_forgotten_when_all_have_left() -> None:
    driver = a_minute_of_retention()
    driver.send(messages.join("", messages.unreadable()), 3)
    driver.at(3_000)
    driver.leave(*membership_of(driver).members)
    driver.commit({"orders": {0: 1}})

    assert driver.at(62_999).records == ()
    assert driver.at(63_000).records == (gone("orders"), GROUP_GONE)


def test_an_empty_group_of_another_kind_ages_as_one_of_consumers() -> None:
    driver = a_minute_of_retention()
    driver.send(messages.join(protocol_type="connect"), 3)
    driver.at(3_000)
    driver.leave(*membership_of(driver).members)
    driver.commit({"orders": {0: 1}})

    assert driver.at(62_999).records == ()
    assert driver.at(63_000).records == (gone("orders"), GROUP_GONE)


# KIP-211: expiry times in the request, and what there is to configure.


def test_a_retention_time_in_the_commit_decides_alone() -> None:
    driver = a_minute_of_retention()
    driver.commit({"orders": {0: 1}}, retention_ms=1_000, version=4)
    driver.commit({"refunds": {0: 1}}, retention_ms=90_000, version=4)

    assert driver.at(999).records == ()
    assert driver.at(1_000).records == (gone("orders"),)
    assert driver.at(89_999).records == ()
    assert driver.at(90_000).records == (gone("refunds"), GROUP_GONE)


def test_a_retention_time_in_the_commit_decides_also_in_an_empty_group() -> None:
    driver = a_minute_of_retention()
    (member_id,) = driver.form()
    driver.commit({"refunds": {0: 1}}, member_id, 1, retention_ms=90_000, version=4)
    driver.leave(member_id)

    assert driver.at(92_999).records == ()
    assert driver.at(93_000).records == (gone("refunds"), GROUP_GONE)


def test_a_subscription_protects_even_an_offset_past_its_retention_time() -> None:
    driver = a_minute_of_retention()
    (member_id,) = driver.form()
    driver.commit({"orders": {0: 1}}, member_id, 1, retention_ms=1_000, version=4)
    keep_alive(driver, member_id, 100_000)
    assert driver.group.offsets["orders"][0].expire_timestamp_ms == 4_000

    left = driver.leave(member_id)

    assert left.records[1:] == ()
    assert driver.at(100_001).records == (gone("orders"), GROUP_GONE)


def test_the_commit_time_of_version_1_is_what_counts() -> None:
    driver = a_minute_of_retention()
    driver.at(30_000)
    driver.send(messages.commit(at_offset(1, commit_timestamp_ms=10_000)), 1)

    assert driver.at(69_999).records == ()
    assert driver.at(70_000).records == (gone("orders"), GROUP_GONE)


def test_an_offset_of_the_far_future_is_no_deadline() -> None:
    driver = a_minute_of_retention()
    driver.send(messages.commit(at_offset(1, commit_timestamp_ms=2**63 - 1)), 1)

    assert driver.next_deadline_ms is None


def test_no_retention_at_all_means_the_next_sweep() -> None:
    driver = GroupDriver(offsets_retention_ms=0, offsets_retention_check_interval_ms=1_000)
    driver.at(1)
    driver.commit({"orders": {0: 1}})

    assert driver.at(999).records == ()
    assert driver.at(1_000).records == (gone("orders"), GROUP_GONE)


def test_an_offset_that_is_due_waits_for_the_sweep() -> None:
    driver = a_minute_of_retention(sweep_interval_ms=7_000)
    driver.commit({"orders": {0: 1}})

    assert driver.next_deadline_ms == 63_000
    assert driver.at(62_999).records == ()
    assert driver.at(63_000).records == (gone("orders"), GROUP_GONE)


def test_a_week_and_ten_minutes_are_kafkas_defaults() -> None:
    driver = GroupDriver(start_ms=1)
    driver.commit({"orders": {0: 1}})

    assert driver.next_deadline_ms == 604_800_000 + 600_000
    assert driver.at(605_399_999).records == ()
    assert driver.at(605_400_000).records == (gone("orders"), GROUP_GONE)


# KIP-496: groups with members.


def test_a_live_group_keeps_what_it_subscribes_to() -> None:
    driver = a_minute_of_retention()
    (member_id,) = driver.form()
    driver.commit({"orders": {0: 1}}, member_id, 1)

    keep_alive(driver, member_id, 1_000_000)

    assert driver.fetch({"orders": [0]}).response.topics[0].partitions[0].offset == 1


def test_a_live_group_loses_what_nobody_subscribes_to_by_its_commit() -> None:
    driver = a_minute_of_retention()
    (member_id,) = driver.form(topics=["orders"])
    driver.commit({"orders": {0: 1}, "refunds": {0: 1}}, member_id, 1)
    driver.at(10_000)
    driver.commit({"refunds": {1: 1}}, member_id, 1)

    keep_alive(driver, member_id, 62_999)
    assert sorted(driver.group.offsets["refunds"]) == [0, 1]
    assert driver.at(63_000).records == (gone("refunds", 0),)
    assert driver.at(63_001).records == ()
    keep_alive(driver, member_id, 69_999)
    assert sorted(driver.group.offsets["refunds"]) == [1]
    assert driver.at(70_000).records == (gone("refunds", 1),)
    assert list(driver.group.offsets) == ["orders"]


def test_a_live_group_without_offsets_stays() -> None:
    driver = a_minute_of_retention()
    (member_id,) = driver.form(topics=["orders"])
    driver.commit({"refunds": {0: 1}}, member_id, 1)

    keep_alive(driver, member_id, 200_000)

    assert driver.group.offsets == {}
    assert state_of(driver) is STABLE


def test_who_unsubscribes_lets_go_of_old_offsets_at_the_next_sweep() -> None:
    driver = a_minute_of_retention(sweep_interval_ms=10_000)
    (member_id,) = driver.form(topics=["orders", "refunds"])
    driver.commit({"refunds": {0: 1}}, member_id, 1)
    keep_alive(driver, member_id, 100_500)

    driver.join(member_id, topics=["orders"])
    driver.sync(member_id, 2)

    assert driver.at(109_999).records == ()
    assert driver.at(110_000).records == (gone("refunds"),)


def test_a_new_subscription_protects_at_once() -> None:
    driver = a_minute_of_retention()
    (member_id,) = driver.form(topics=["orders"])
    driver.commit({"refunds": {0: 1}}, member_id, 1)
    keep_alive(driver, member_id, 62_999)

    driver.join(member_id, topics=["refunds"])
    driver.sync(member_id, 2)
    keep_alive(driver, member_id, 100_000, generation=2)

    assert list(driver.group.offsets) == ["refunds"]


def test_during_a_rebalance_nothing_expires() -> None:
    driver = a_minute_of_retention()
    leader, follower = driver.form(2, topics=["orders"])
    driver.commit({"refunds": {0: 1}}, leader, 1)
    keep_alive(driver, leader, 10_000)
    driver.heartbeat(follower, 1)
    driver.join(leader, topics=["orders"])
    assert (state_of(driver), driver.now_ms) == (PREPARING, 10_000)

    keep_alive(driver, follower, 65_999)
    driver.at(66_000)
    driver.join(follower)
    assert state_of(driver) is COMPLETING
    assert list(driver.group.offsets) == ["refunds"]
    driver.at(66_001)
    driver.sync(leader, 2)

    assert driver.at(66_002).records == (gone("refunds"),)


def test_a_subscription_that_nobody_can_read_protects_all() -> None:
    driver = a_minute_of_retention()
    driver.send(messages.join("", messages.unreadable()), 3)
    driver.at(3_000)
    (member_id,) = membership_of(driver).members
    driver.sync(member_id, 1)
    driver.commit({"refunds": {0: 1}}, member_id, 1)

    keep_alive(driver, member_id, 100_000)

    assert list(driver.group.offsets) == ["refunds"]


def test_a_live_group_of_another_kind_keeps_all() -> None:
    driver = a_minute_of_retention()
    driver.send(messages.join(protocol_type="connect"), 3)
    driver.at(3_000)
    (member_id,) = membership_of(driver).members
    driver.send(messages.sync(member_id, 1, protocol_type="connect"), 5)
    driver.commit({"refunds": {0: 1}}, member_id, 1)

    keep_alive(driver, member_id, 100_000)

    assert list(driver.group.offsets) == ["refunds"]
    assert state_of(driver) is STABLE
