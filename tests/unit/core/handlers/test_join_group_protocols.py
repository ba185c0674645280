"""JoinGroup: the protocols that members share, and the one that is chosen."""

from __future__ import annotations

import pytest

from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.states import ClassicState
from group_coordinator.testing import GroupDriver
from tests.unit.core import requests
from tests.unit.core.groups_in_every_state import membership_of, state_of
from tests.unit.core.requests import protocol


@pytest.mark.parametrize(
    ("protocol_type", "name"), [("connect", "range"), ("consumer", "sticky"), ("", "range")]
)
def test_a_newcomer_must_share_a_protocol_with_all(protocol_type: str, name: str) -> None:
    driver = GroupDriver()
    driver.form()

    outcome = driver.send(requests.join("", protocol(name), protocol_type=protocol_type), 9)

    assert outcome.response.error is ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert state_of(driver) is ClassicState.STABLE


@pytest.mark.parametrize(
    ("protocol_type", "error"),
    [
        ("consumer", ErrorCode.MEMBER_ID_REQUIRED),
        ("connect", ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
    ],
)
def test_when_all_left_during_the_initial_delay_the_protocol_type_stays(
    protocol_type: str, error: ErrorCode
) -> None:
    driver = GroupDriver()
    driver.join(instance_id="i")
    driver.leave(instance_id="i")
    assert state_of(driver) is ClassicState.PREPARING_REBALANCE

    outcome = driver.send(requests.join("", protocol("any"), protocol_type=protocol_type), 9)

    assert outcome.response.error is error


def test_an_empty_group_may_change_its_protocol_type() -> None:
    driver = GroupDriver()
    driver.leave(*driver.form())

    driver.send(requests.join(protocol_type="connect"), 3)
    driver.sleep(3_000)

    assert membership_of(driver).protocol_type == "connect"
    assert membership_of(driver).subscribed_topics is None


def test_the_majority_chooses_the_protocol() -> None:
    driver = GroupDriver()
    for names in (("range", "sticky"), ("sticky", "range"), ("sticky", "range")):
        driver.send(requests.join("", *map(protocol, names)), 3)

    driver.at(6_000)

    assert membership_of(driver).protocol == "sticky"


def test_a_tied_vote_goes_by_name() -> None:
    driver = GroupDriver()
    for names in (("sticky", "range"), ("range", "sticky")):
        driver.send(requests.join("", *map(protocol, names)), 3)

    driver.at(6_000)

    assert membership_of(driver).protocol == "range"


def test_only_what_all_have_can_be_chosen() -> None:
    driver = GroupDriver()
    for names in (("sticky", "range"), ("sticky", "range"), ("range",)):
        driver.send(requests.join("", *map(protocol, names)), 3)

    driver.at(6_000)

    assert membership_of(driver).protocol == "range"


@pytest.mark.parametrize(
    ("lists", "chosen"),
    [
        ([("range", "range")], "range"),
        ([("range", "range", "sticky"), ("sticky", "sticky")], "sticky"),
        ([("range", "range", "sticky"), ("sticky", "other")], "sticky"),
        ([("range", "range", "sticky"), ("sticky",), ("range",)], "range"),
    ],
)
def test_where_a_name_that_comes_twice_leaves_nothing_to_choose_most_decide(
    lists: list[tuple[str, ...]], chosen: str
) -> None:
    """Kafka's group answers nobody until its members are out."""
    driver = GroupDriver()
    for names in lists:
        driver.send(requests.join("", *map(protocol, names)), 3)

    driver.at(6_000)

    assert membership_of(driver).protocol == chosen
    assert len(membership_of(driver).members) == len(lists)
