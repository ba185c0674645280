"""A deadline comes before the requests of its millisecond; deadlines of one millisecond fire in the order they were set."""

from __future__ import annotations

import pytest

from group_coordinator.core.model.records import OffsetRecord, Reason
from group_coordinator.core.model.requests import Topic
from group_coordinator.core.model.timers import SYNC_TIMER, session_timer
from group_coordinator.testing import GroupDriver
from tests.unit.core.groups_in_every_state import became_empty, membership_of


def test_a_session_that_began_anew_in_the_sync_phase_ends_after_the_phase() -> None:
    driver = GroupDriver()
    joins = [driver.join(version=3, rebalance_timeout_ms=15_000) for _ in range(2)]
    driver.at(6_000)
    leader, follower = [driver.response_to(join).member_id for join in joins]
    driver.at(11_000)
    driver.sync(leader, 1)
    driver.at(12_000)
    driver.heartbeat(follower, 1)
    timers = membership_of(driver).timers
    assert timers[SYNC_TIMER].due_ms == timers[session_timer(leader)].due_ms == 21_000

    # First the follower is out, which owes its SyncGroup, then the leader, which was the last.
    assert driver.at(21_000).records == (became_empty(21_000, 2, Reason.SESSION_TIMEOUT),)


@pytest.mark.parametrize(("sleep_ms", "topics_known"), [(59_999, 1), (60_000, 0)])
def test_a_group_that_does_not_exist_forgets_topics_after_the_retention(
    sleep_ms: int, topics_known: int
) -> None:
    driver = GroupDriver(offsets_retention_ms=60_000)
    driver.at(1)  # nothing is due: from now on no deadline is looked for unasked
    driver.learn_topics(Topic("orders", "AAAAAAAAAAAAAAAAAAAAAQ", 3))

    driver.sleep(sleep_ms)

    assert len(driver.group.topics or ()) == topics_known


def test_a_session_ends_at_its_own_time_whenever_it_is_seen() -> None:
    driver = GroupDriver()
    driver.form()

    outcome = driver.at(500_000)

    assert outcome.records == (became_empty(13_000, 2, Reason.SESSION_TIMEOUT),)


def test_a_sweep_comes_before_a_session_that_began_after_the_last_sweep() -> None:
    driver = GroupDriver(offsets_retention_ms=10_000, offsets_retention_check_interval_ms=20_000)
    (member_id,) = driver.form(topics=["orders"])
    driver.at(10_000)
    driver.commit({"refunds": {0: 1}}, member_id, 1)

    assert driver.at(20_000).records == (
        OffsetRecord("refunds", 0, None, Reason.OFFSET_EXPIRED),
        became_empty(20_000, 2, Reason.SESSION_TIMEOUT),
    )
