"""KIP-496: groups with members keep what they subscribe to."""

from __future__ import annotations

from tests.unit.core import requests
from tests.unit.core.groups_in_every_state import (
    COMPLETING,
    PREPARING,
    STABLE,
    membership_of,
    state_of,
)
from tests.unit.core.retention import a_minute_of_retention, gone, keep_alive


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
    driver.send(requests.join("", requests.unreadable()), 3)
    driver.at(3_000)
    (member_id,) = membership_of(driver).members
    driver.sync(member_id, 1)
    driver.commit({"refunds": {0: 1}}, member_id, 1)

    keep_alive(driver, member_id, 100_000)

    assert list(driver.group.offsets) == ["refunds"]


def test_a_live_group_of_another_kind_keeps_all() -> None:
    driver = a_minute_of_retention()
    driver.send(requests.join(protocol_type="connect"), 3)
    driver.at(3_000)
    (member_id,) = membership_of(driver).members
    driver.send(requests.sync(member_id, 1, protocol_type="connect"), 5)
    driver.commit({"refunds": {0: 1}}, member_id, 1)

    keep_alive(driver, member_id, 100_000)

    assert list(driver.group.offsets) == ["refunds"]
    assert state_of(driver) is STABLE
