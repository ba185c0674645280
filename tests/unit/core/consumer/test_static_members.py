"""Static members of consumer groups: away for a while, back under another id (KIP-345, KIP-848)."""

from __future__ import annotations

from group_coordinator.core.model.consumer_member import CurrentAssignment
from group_coordinator.core.model.errors import ErrorCode
from tests.unit.core.consumer_groups import ORD, STABLE, cluster, current, kinds, target


def test_an_instance_that_is_there_is_not_released() -> None:
    driver = cluster()
    driver.consumers.join("m1", ["orders"], instance_id="i")

    for member_id in ("m2", "m1"):
        answer = driver.consumers.join(member_id, ["orders"], instance_id="i").response
        assert answer.error is ErrorCode.UNRELEASED_INSTANCE_ID


def test_one_who_leaves_for_a_while_keeps_everything_at_epoch_minus_2() -> None:
    driver = cluster()
    driver.consumers.join("m1", ["orders"], instance_id="i")

    outcome = driver.consumers.leave("m1", for_a_while=True)

    assert kinds(outcome.records) == ["+Current"]
    assert current(driver, "m1") == CurrentAssignment(-2, 0, STABLE, {ORD: {0: 0, 1: 0, 2: 0}}, {})
    assert (outcome.response.member_epoch, outcome.response.heartbeat_interval_ms) == (-2, 0)


def test_whoever_comes_back_under_the_instance_id_gets_it_all() -> None:
    driver = cluster()
    driver.consumers.join("m1", ["orders"], instance_id="i")
    driver.consumers.leave("m1", for_a_while=True)

    outcome = driver.consumers.join("m2", ["orders"], instance_id="i")

    assert kinds(outcome.records) == [
        "-Current", "-Target", "-Member", "+Member", "+Target", "+Current", "+Current",
    ]  # fmt: skip
    assert outcome.response.assignment == {ORD: (0, 1, 2)}
    assert current(driver, "m2") == CurrentAssignment(2, 0, STABLE, {ORD: {0: 0, 1: 0, 2: 0}}, {})
    assert driver.group.consumer is not None
    assert list(driver.group.consumer.members) == ["m2"]


def test_it_comes_back_to_its_own_target_when_another_one_is_computed() -> None:
    driver = cluster()
    driver.consumers.join("m1", ["orders"], instance_id="i")
    driver.consumers.leave("m1", for_a_while=True)
    driver.sleep(1_000)

    outcome = driver.consumers.join("m2", ["orders", "bills"], instance_id="i")

    assert target(driver, "m2")[ORD] == (0, 1, 2)
    assert outcome.response.member_epoch == 3
    assert target(driver, "m1") == {}


def test_one_who_does_not_come_back_is_removed_when_its_session_ends() -> None:
    driver = cluster()
    driver.consumers.join("m1", ["orders"], instance_id="i")
    driver.consumers.leave("m1", for_a_while=True)

    assert driver.at(45_999).records == ()
    gone = ["-Current", "-Target", "-Member"]
    assert kinds(driver.at(46_000).records) == [*gone, "+GroupEpoch", "+TargetEpoch"]


def test_the_old_id_is_fenced_and_a_strange_instance_unknown() -> None:
    driver = cluster()
    driver.consumers.join("m1", ["orders"], instance_id="i")
    driver.consumers.leave("m1", for_a_while=True)
    driver.consumers.join("m2", ["orders"], instance_id="i")

    assert driver.consumers.beat("m1", epoch=2).response.error is ErrorCode.FENCED_INSTANCE_ID
    assert driver.consumers.leave("m1").response.error is ErrorCode.FENCED_INSTANCE_ID
    stranger = driver.consumers.beat("m2", group_instance_id="j").response
    assert stranger.error is ErrorCode.UNKNOWN_MEMBER_ID


def test_leaving_for_good_frees_the_instance_id() -> None:
    driver = cluster()
    driver.consumers.join("m1", ["orders"], instance_id="i")

    assert driver.consumers.leave("m1").response.member_epoch == -1
    assert driver.consumers.join("m2", ["orders"], instance_id="i").response.error == 0


def test_a_member_that_changes_its_instance_id_sets_the_old_one_free() -> None:
    driver = cluster()
    driver.consumers.join("m1", ["orders"], instance_id="i")
    driver.consumers.join("m1", ["orders"], instance_id="j")

    taken = driver.consumers.join("m2", ["orders"], instance_id="j").response
    free = driver.consumers.join("m3", ["orders"], instance_id="i").response

    assert taken.error is ErrorCode.UNRELEASED_INSTANCE_ID
    assert free.error is ErrorCode.NONE
