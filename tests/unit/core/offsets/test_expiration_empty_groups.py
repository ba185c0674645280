"""KIP-211: offsets of groups without members expire, and the group with the last."""

from __future__ import annotations

from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.states import ClassicState
from tests.unit.core import requests
from tests.unit.core.groups_in_every_state import membership_of, state_of
from tests.unit.core.retention import GROUP_GONE, a_minute_of_retention, gone, keep_alive


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
    driver.send(requests.join("", requests.unreadable()), 3)
    driver.at(3_000)
    driver.leave(*membership_of(driver).members)
    driver.commit({"orders": {0: 1}})

    assert driver.at(62_999).records == ()
    assert driver.at(63_000).records == (gone("orders"), GROUP_GONE)


def test_an_empty_group_of_another_kind_ages_as_one_of_consumers() -> None:
    driver = a_minute_of_retention()
    driver.send(requests.join(protocol_type="connect"), 3)
    driver.at(3_000)
    driver.leave(*membership_of(driver).members)
    driver.commit({"orders": {0: 1}})

    assert driver.at(62_999).records == ()
    assert driver.at(63_000).records == (gone("orders"), GROUP_GONE)
