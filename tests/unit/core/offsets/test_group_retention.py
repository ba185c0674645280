"""A retention that one group was given: it wins over the coordinator's, in either direction, and at once."""

from __future__ import annotations

import pytest

from group_coordinator.core.model.classic_member import ClassicState
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.records import ConfigRecord, Reason
from group_coordinator.testing import GroupDriver
from tests.unit.core.consumer_groups import cluster, kinds
from tests.unit.core.groups_in_every_state import state_of
from tests.unit.core.handlers.test_transactions import end, pend
from tests.unit.core.retention import (
    GROUP_GONE,
    a_minute_of_retention,
    check_gone_at,
    gone,
    keep_alive,
    retain,
)

RETENTION = "offsets.retention.ms"
LONGEST_MS = 2**63 - 1


# A simple group, whose offsets age from their commits.


@pytest.mark.parametrize(
    ("sweep_interval_ms", "set_at_ms", "retention_ms", "due_ms"),
    [
        (1, 5_000, 10_000, 10_000),
        (10_000, 9_999, 1, 10_000),
        (10_000, 10_000, 1, 20_000),
        (10_000, 29_999, 1, 30_000),
        (1, 59_999, 120_000, 120_000),
    ],
    ids=["shorter", "overdue with the next sweep", "at a sweep", "before a sweep", "longer"],
)
def test_a_retention_is_due_at_its_own_time_or_with_the_next_sweep(
    sweep_interval_ms: int, set_at_ms: int, retention_ms: int, due_ms: int
) -> None:
    driver = a_minute_of_retention(sweep_interval_ms)
    driver.commit({"orders": {0: 1}})
    driver.at(set_at_ms)
    retain(driver, retention_ms)

    assert driver.next_deadline_ms == due_ms
    check_gone_at(driver, due_ms)


@pytest.mark.parametrize("taken_back_by", [-1, None])
def test_taken_back_the_coordinators_counts_again(taken_back_by: int | None) -> None:
    driver = a_minute_of_retention(sweep_interval_ms=10_000)
    driver.commit({"orders": {0: 1}})
    retain(driver, 120_000)
    driver.at(75_000)
    assert driver.next_deadline_ms == 120_000

    retain(driver, taken_back_by)

    assert driver.group.configs == {}
    assert driver.next_deadline_ms == 80_000
    check_gone_at(driver, 80_000)


def test_the_setting_may_come_before_the_group() -> None:
    driver = a_minute_of_retention()
    retain(driver, 10_000)
    assert driver.next_deadline_ms is None
    driver.commit({"orders": {0: 1}})

    assert driver.next_deadline_ms == 10_000
    check_gone_at(driver, 10_000)


def test_a_commit_after_the_setting_is_no_later_than_the_setting_says() -> None:
    driver = a_minute_of_retention()
    driver.commit({"refunds": {0: 1}}, retention_ms=500_000, version=4)
    retain(driver, 10_000)
    assert driver.next_deadline_ms == 500_000
    driver.at(1_000)
    driver.commit({"orders": {0: 1}})

    assert driver.at(10_999).records == ()
    assert driver.at(11_000).records == (gone("orders"),)


def test_a_setting_for_ever_is_no_deadline() -> None:
    driver = a_minute_of_retention()
    driver.commit({"orders": {0: 1}})
    retain(driver, LONGEST_MS)

    assert driver.next_deadline_ms is None
    assert driver.at(10**15).records == ()


def test_it_outlives_the_group_and_the_log_brings_it_back() -> None:
    driver = a_minute_of_retention()
    retain(driver, 10_000)
    driver.commit({"orders": {0: 1}})
    assert driver.at(10_000).records == (gone("orders"), GROUP_GONE)
    assert driver.group.configs == driver.rebuilt().configs == {RETENTION: "10000"}

    driver.commit({"orders": {0: 2}})
    driver.group = driver.rebuilt()

    assert driver.next_deadline_ms == 20_000
    assert driver.at(20_000).records == (gone("orders"), GROUP_GONE)
    retain(driver, -1)
    assert driver.group.is_forgotten


# What the commit itself says comes first.


@pytest.mark.parametrize(("retention_ms", "group_ms"), [(20_000, 10_000), (20_000, 50_000)])
def test_a_retention_time_in_the_commit_decides_alone(retention_ms: int, group_ms: int) -> None:
    driver = a_minute_of_retention()
    retain(driver, group_ms)
    driver.commit({"orders": {0: 1}}, retention_ms=retention_ms, version=4)

    check_gone_at(driver, 20_000)


# What protects an offset protects it still.


def test_an_empty_groups_offsets_age_from_when_it_became_empty() -> None:
    driver = a_minute_of_retention()
    (member_id,) = driver.form()
    driver.commit({"orders": {0: 1}}, member_id, 1)
    driver.at(5_000)
    driver.leave(member_id)
    retain(driver, 2_000)

    check_gone_at(driver, 7_000)


def test_a_live_subscription_protects_and_other_topics_go_by_the_setting() -> None:
    driver = a_minute_of_retention()
    (member_id,) = driver.form()
    driver.at(4_000)
    driver.commit({"orders": {0: 1}, "refunds": {0: 1}}, member_id, 1)
    retain(driver, 2_000)

    assert driver.at(5_999).records == ()
    assert driver.at(6_000).records == (gone("refunds"),)
    driver.heartbeat(member_id, 1)
    keep_alive(driver, member_id, 100_000)
    assert list(driver.group.offsets) == ["orders"]


def test_nothing_goes_during_a_rebalance() -> None:
    driver = a_minute_of_retention()
    (member_id,) = driver.form()
    driver.commit({"refunds": {0: 1}}, member_id, 1)
    driver.join(version=3)
    assert state_of(driver) is ClassicState.PREPARING_REBALANCE
    retain(driver, 1)

    assert driver.at(12_000).records == ()


def test_a_consumer_groups_offsets_age_from_their_commits() -> None:
    driver = cluster(start_ms=0, offsets_retention_ms=60_000, offsets_retention_check_interval_ms=1)
    driver.consumers.join("m1", ["orders"])
    driver.commit({"orders": {0: 1}, "bills": {0: 1}}, "m1", 2, version=9)
    driver.at(5_000)
    retain(driver, 10_000)

    assert driver.at(9_999).records == ()
    assert driver.at(10_000).records == (gone("bills"),)
    driver.consumers.leave("m1")
    assert kinds(driver.at(10_001).records)[:2] == ["-Offset", "-TargetEpoch"]


def test_an_open_transaction_holds_what_is_due() -> None:
    driver = a_minute_of_retention(sweep_interval_ms=1_000)
    driver.commit({"orders": {0: 1}})
    pend(driver, 2)
    retain(driver, 1)
    assert driver.next_deadline_ms is None
    driver.at(5_000)
    end(driver, is_commit=False)

    assert driver.at(6_000).records == (gone("orders"), GROUP_GONE)


def test_an_empty_group_without_offsets_goes_all_the_same() -> None:
    driver = a_minute_of_retention(sweep_interval_ms=10_000)
    (member_id,) = driver.form()
    driver.leave(member_id)
    retain(driver, LONGEST_MS)

    assert driver.at(9_999).records == ()
    assert driver.at(10_000).records == (GROUP_GONE,)
    assert driver.group.configs == {RETENTION: str(LONGEST_MS)}


# The value.


@pytest.mark.parametrize(
    ("text", "kept"), [("1", "1"), (" +0060000 ", "60000"), (str(LONGEST_MS), str(LONGEST_MS))]
)
def test_a_value_is_kept_as_kafka_would_show_it(text: str, kept: str) -> None:
    driver = GroupDriver()

    assert driver.alter_configs({RETENTION: text}).records == (
        ConfigRecord(RETENTION, kept, Reason.CONFIG),
    )


def test_what_was_never_given_is_taken_back_without_a_record() -> None:
    driver = GroupDriver()

    taken_back = driver.alter_configs({RETENTION: "-1"})

    assert taken_back.response.error is ErrorCode.NONE
    assert taken_back.records == ()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("0", "Value must be at least 1, or -1 to remove the setting"),
        ("-2", "Value must be at least 1, or -1 to remove the setting"),
        (str(LONGEST_MS + 1), "Not a number of type LONG"),
        ("7d", "Not a number of type LONG"),
        ("", "Not a number of type LONG"),
    ],
)
def test_a_value_that_is_no_retention_is_refused(text: str, why: str) -> None:
    driver = GroupDriver()

    refusal = driver.alter_configs({RETENTION: text})

    assert refusal.response.error is ErrorCode.INVALID_CONFIG
    assert refusal.response.error_message == (
        f"Invalid value {text} for configuration {RETENTION}: {why}"
    )
    assert refusal.records == ()
