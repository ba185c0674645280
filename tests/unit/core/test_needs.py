"""Topics whose metadata a group needs, and the requests that wait for it."""

from __future__ import annotations

import pytest

from group_coordinator.core.model.requests import Heartbeat
from group_coordinator.core.topics import NOTHING, NeededTopics, missing_topics, topic_need
from group_coordinator.testing import GroupDriver
from tests.unit.core import requests
from tests.unit.core.consumer_groups import cluster
from tests.unit.core.requests import beat

ORDERS = NeededTopics(("orders",))


def test_a_consumer_group_needs_what_its_members_subscribe_to() -> None:
    driver = cluster()
    driver.consumers.join("m1", ["orders", "bills"])
    driver.consumers.join("m2", ["orders"], topic_regex="o.*")

    assert topic_need(driver.group) == NeededTopics(("bills", "orders"), ("o.*",))
    assert topic_need(GroupDriver().group) == NOTHING


def test_a_rebuilt_consumer_group_needs_its_topics_before_it_assigns() -> None:
    driver = cluster()
    driver.consumers.join("m1", ["orders"])
    assert missing_topics(driver.group, requests.join()) is None

    driver.group = driver.rebuilt()

    assert missing_topics(driver.group, requests.join()) == ORDERS
    assert missing_topics(driver.group, Heartbeat("g", 2, "m1", None)) is None


def test_a_consumer_group_that_never_knew_topics_needs_none() -> None:
    driver = GroupDriver()
    driver.consumers.join("m1", ["orders"])

    assert missing_topics(driver.group, requests.join()) is None


@pytest.mark.parametrize(("epoch", "needed"), [(0, ORDERS), (1, None)])
def test_an_upgrade_needs_the_topics_of_the_classic_members(
    epoch: int, needed: NeededTopics | None
) -> None:
    driver = GroupDriver()
    assert missing_topics(driver.group, beat("bills", epoch=epoch)) is None

    member_ids = driver.form(topics=["orders"])

    assert missing_topics(driver.group, beat("bills", epoch=epoch)) == needed
    assert missing_topics(driver.group, requests.join()) is None
    driver.leave(*member_ids)
    assert missing_topics(driver.group, beat("bills", epoch=epoch)) is None
