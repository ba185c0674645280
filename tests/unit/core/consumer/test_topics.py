"""Topics that change, and subscriptions by regular expression (KIP-848)."""

from __future__ import annotations

from group_coordinator.core.model.consumer_member import ResolvedRegex
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.records import RegexRecord
from group_coordinator.core.model.topic import Topic
from tests.unit.core.consumer_groups import BIL, BILLS, ORD, ORDERS, cluster, kinds, target

MORE_ORDERS = ORDERS.replace(num_partitions=4)


def test_new_partitions_reach_the_group_with_its_next_heartbeat() -> None:
    driver = cluster()
    driver.consumers.join("m1", ["orders"])
    driver.sleep(1_000)

    assert driver.learn_topics(MORE_ORDERS, BILLS).records == ()
    outcome = driver.consumers.beat("m1", {ORD: [0, 1, 2]})

    assert kinds(outcome.records) == ["+GroupEpoch", "+Target", "+TargetEpoch", "+Current"]
    assert outcome.response.assignment == {ORD: (0, 1, 2, 3)}
    assert driver.consumers.beat("m1").records == ()


def test_topics_of_no_interest_change_nothing() -> None:
    driver = cluster()
    driver.consumers.join("m1", ["orders"])

    driver.learn_topics(ORDERS)

    assert driver.consumers.beat("m1").records == ()


def test_a_topic_that_comes_anew_is_another_one() -> None:
    driver = cluster()
    driver.consumers.join("m1", ["orders"])
    driver.sleep(1_000)
    anew = Topic("orders", "AAAAAAAAAAAAAAAAAAAABQ", 1)
    driver.learn_topics(anew, BILLS, deleted=[ORDERS])

    driver.consumers.beat("m1", {ORD: [0, 1, 2]})

    assert target(driver, "m1") == {anew.topic_id: (0,)}
    outcome = driver.consumers.beat("m1", {})
    assert outcome.response.assignment == {anew.topic_id: (0,)}


def test_a_topic_that_goes_leaves_the_assignment() -> None:
    driver = cluster()
    driver.consumers.join("m1", ["orders", "bills"])
    driver.sleep(1_000)
    driver.learn_topics(BILLS, deleted=[ORDERS])

    outcome = driver.consumers.beat("m1", {})

    assert outcome.response.assignment == {BIL: (0,)}


def test_a_pattern_is_resolved_beside_the_request_and_assigned_with_the_next_one() -> None:
    driver = cluster()

    joined = driver.consumers.join("m1", topic_regex="o.*")
    assert kinds(joined.records) == ["+Member", "+Current", "+Regex", "+GroupEpoch"]
    assert (joined.response.member_epoch, joined.response.assignment) == (1, {})
    assert joined.records[2].value == ResolvedRegex(("orders",), 1, 1_000)

    beat = driver.consumers.beat("m1")
    assert (beat.response.member_epoch, beat.response.assignment) == (2, {ORD: (0, 1, 2)})


def test_names_and_a_pattern_add_up() -> None:
    driver = cluster()
    driver.consumers.join("m1", ["bills"], topic_regex="o.*")
    driver.sleep(1_000)

    answer = driver.consumers.beat("m1", {BIL: [0]}).response

    assert answer.assignment == {ORD: (0, 1, 2), BIL: (0,)}


def test_a_pattern_without_a_topic_is_resolved_to_nothing() -> None:
    driver = cluster()

    joined = driver.consumers.join("m1", topic_regex="x.*")

    assert kinds(joined.records) == ["+Member", "+Current", "+Regex"]
    assert driver.consumers.beat("m1").records == ()


def test_new_topics_are_found_ten_seconds_after_the_last_look() -> None:
    driver = cluster(BILLS)
    driver.consumers.join("m1", topic_regex="o.*")
    driver.learn_topics(ORDERS, BILLS)

    driver.at(11_000)
    assert driver.consumers.beat("m1").records == ()
    driver.at(11_001)
    assert kinds(driver.consumers.beat("m1").records) == ["+Regex", "+GroupEpoch"]
    assert driver.consumers.beat("m1").response.assignment == {ORD: (0, 1, 2)}


def test_every_ten_minutes_it_is_looked_again() -> None:
    driver = cluster()
    driver.consumers.join("m1", topic_regex="o.*")
    driver.consumers.beat("m1")
    for time_ms in range(40_000, 600_001, 40_000):
        driver.at(time_ms)
        driver.consumers.beat("m1")
    driver.at(601_000)

    assert driver.consumers.beat("m1").records == ()
    driver.at(601_001)
    assert kinds(driver.consumers.beat("m1").records) == ["+Regex"]


def test_the_last_subscriber_takes_a_pattern_along() -> None:
    driver = cluster()
    driver.consumers.join("m1", topic_regex="o.*")
    driver.consumers.join("m2", topic_regex="o.*")

    assert "-Regex" not in kinds(driver.consumers.leave("m1").records)
    assert kinds(driver.consumers.leave("m2").records) == [
        "-Current", "-Target", "-Member", "-Regex", "+GroupEpoch",
        "+TargetEpoch",
    ]  # fmt: skip


def test_a_new_pattern_takes_the_place_of_the_old_one() -> None:
    driver = cluster()
    driver.consumers.join("m1", topic_regex="o.*")
    driver.consumers.beat("m1")
    driver.sleep(20_000)

    outcome = driver.consumers.beat("m1", {ORD: [0, 1, 2]}, topic_regex="b.*")

    tombstones = [r.regex for r in outcome.records if isinstance(r, RegexRecord) and not r.value]
    assert tombstones == ["o.*"]
    assert kinds(outcome.records)[-2:] == ["+Regex", "+GroupEpoch"]
    # Not subscribed to any more, so that orders must be given back before bills are known.
    assert outcome.response.assignment == {}


def test_a_pattern_that_somebody_has_resolved_counts_at_once() -> None:
    driver = cluster()
    driver.consumers.join("m1", topic_regex="o.*")
    driver.sleep(1_000)

    joined = driver.consumers.join("m2", topic_regex="o.*")

    assert kinds(joined.records)[:2] == ["+Member", "+GroupEpoch"]
    assert joined.response.assignment == target(driver, "m2") != {}


def test_no_pattern_any_more() -> None:
    driver = cluster()
    driver.consumers.join("m1", ["bills"], topic_regex="o.*")
    driver.sleep(1_000)
    driver.consumers.beat("m1", {BIL: [0]})
    driver.sleep(1_000)

    outcome = driver.consumers.beat("m1", {BIL: [0]}, topic_regex="")

    assert kinds(outcome.records)[:3] == ["+Member", "-Regex", "+GroupEpoch"]
    assert outcome.response.assignment == {BIL: (0,)}


def test_without_topics_there_is_nothing_to_match() -> None:
    driver = cluster()
    driver.group.topics = None

    joined = driver.consumers.join("m1", topic_regex=".*")

    assert joined.records[2].value == ResolvedRegex((), 1, 1_000)


def test_an_invalid_pattern_of_a_known_member_is_refused() -> None:
    driver = cluster()
    driver.consumers.join("m1", ["orders"])

    answer = driver.consumers.beat("m1", topic_regex="[").response

    assert answer.error is ErrorCode.INVALID_REGULAR_EXPRESSION
