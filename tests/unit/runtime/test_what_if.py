"""Another retention, tried on what the state machine did under the one of then."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from group_coordinator.core.group_configs import OFFSETS_RETENTION
from group_coordinator.core.model.records import OffsetRecord, Reason
from group_coordinator.core.model.requests import Topic
from group_coordinator.runtime.what_if import Removal, TimedRecord, WhatIf
from tests.support.group_history import GroupHistory

DAY, HOUR = 86_400_000, 3_600_000
ORDERS = Topic("orders", "AAAAAAAAAAAAAAAAAAAAAQ", 3)
REFUNDS = Topic("refunds", "AAAAAAAAAAAAAAAAAAAAAg", 3)


def living(retention_ms: int = 7 * DAY) -> GroupHistory:
    return GroupHistory(
        "billing",
        offsets_retention_ms=retention_ms,
        offsets_retention_check_interval_ms=HOUR,
        group_initial_rebalance_delay_ms=0,
    )


def removals(group: GroupHistory, retention_ms: int) -> list[Removal]:
    """As of the time that the group has reached."""
    config = replace(group.config, offsets_retention_ms=retention_ms)
    log = [TimedRecord(*logged) for logged in group.timed_log]
    return WhatIf("billing", config).removals(log, group.now_ms)


def test_a_shorter_retention_and_a_group_that_comes_back() -> None:
    group = living()
    group.commit({"orders": {0: 10, 1: 20}})
    group.sleep(DAY + 5 * HOUR)
    group.commit({"orders": {0: 11}})
    group.sleep(HOUR)

    assert removals(group, DAY) == [
        Removal("orders", 0, 10, 0, DAY, committed_again_at_ms=DAY + 5 * HOUR),
        Removal("orders", 1, 20, 0, DAY),
    ]


def test_the_sweep_at_the_very_time_counts_and_a_moment_earlier_nothing_is_gone() -> None:
    group = living()
    group.commit({"orders": {0: 10}})
    group.sleep(DAY - 1)
    assert removals(group, DAY) == []

    group.sleep(1)
    assert removals(group, DAY) == [Removal("orders", 0, 10, 0, DAY)]


def test_a_number_below_0_is_no_offset_to_lose() -> None:
    group = living()
    group.commit({"orders": {0: -1, 1: 0}})
    group.sleep(DAY)

    assert removals(group, DAY) == [Removal("orders", 1, 0, 0, DAY)]


def test_a_commit_in_time_begins_anew() -> None:
    group = living()
    group.commit({"orders": {0: 10}})
    group.sleep(DAY - HOUR)
    group.commit({"orders": {0: 11}})
    group.sleep(DAY - 1)

    assert removals(group, DAY) == []


def test_members_protect_what_they_subscribe_to_until_they_have_gone() -> None:
    group = living()
    [member] = group.form(topics=("orders",))
    generation = group.group.membership.generation  # type: ignore[union-attr]
    group.commit({"orders": {0: 10}, "refunds": {0: 5}}, member, generation)
    for _ in range(20):
        group.sleep(9_000)
        group.heartbeat(member, generation)
    left_ms = group.now_ms
    group.leave(member)
    group.sleep(DAY)

    assert removals(group, 60_000) == [
        Removal("orders", 0, 10, 0, HOUR),
        Removal("refunds", 0, 5, 0, HOUR),
    ]
    assert left_ms == 180_000


def test_a_subscription_protects_and_another_topic_goes() -> None:
    group = living()
    group.learn_topics(ORDERS, REFUNDS)
    group.consumers.join("a", ["orders"])
    epoch = group.consumers.epochs["a"]
    group.commit({"orders": {0: 10}, "refunds": {0: 5}}, "a", epoch, version=9)
    for _ in range(90):
        group.sleep(40_000)
        group.consumers.beat("a")

    assert group.now_ms == HOUR
    assert removals(group, 60_000) == [Removal("refunds", 0, 5, 0, HOUR)]


def test_what_the_retention_of_then_removed_stays_with_a_longer_one() -> None:
    group = living(retention_ms=DAY)
    group.commit({"orders": {0: 10}})
    group.sleep(3 * DAY)
    assert group.group.offsets == {}

    assert removals(group, 7 * DAY) == []
    assert removals(group, 2 * DAY) == [Removal("orders", 0, 10, 0, 2 * DAY)]


def test_what_was_lost_in_fact_is_said() -> None:
    group = living(retention_ms=2 * DAY)
    group.commit({"orders": {0: 10}})
    group.sleep(3 * DAY)
    group.commit({"orders": {0: 11}})

    assert removals(group, DAY) == [
        Removal("orders", 0, 10, 0, DAY, committed_again_at_ms=3 * DAY, lost_at_ms=2 * DAY)
    ]


def test_what_was_deleted_in_time_does_not_expire() -> None:
    group = living()
    group.commit({"orders": {0: 10}})
    group.sleep(HOUR)
    group.delete()
    group.sleep(7 * DAY)

    assert removals(group, DAY) == []


def test_the_group_s_own_retention_comes_first() -> None:
    group = living()
    group.alter_configs({OFFSETS_RETENTION.name: str(5 * DAY)})
    group.commit({"orders": {0: 10}})
    group.sleep(6 * DAY)

    assert removals(group, DAY) == [Removal("orders", 0, 10, 0, 5 * DAY, lost_at_ms=5 * DAY)]


def test_a_transaction_holds_its_partition_and_its_end_commits() -> None:
    group = living()
    group.commit({"orders": {0: 10, 1: 20}})
    group.commit_in_transaction(17, "orders", 0, 11)
    group.sleep(2 * DAY)
    group.end_transaction(17, is_commit=True)
    group.sleep(HOUR)

    assert removals(group, DAY) == [
        Removal("orders", 1, 20, 0, DAY),
        # It was committed when the transaction began, and held until its end.
        Removal("orders", 0, 11, 0, 2 * DAY + HOUR),
    ]


def test_a_group_that_only_another_retention_keeps_gives_its_name_to_a_consumer_group() -> None:
    group = living(retention_ms=HOUR)
    group.learn_topics(ORDERS, REFUNDS)
    [member] = group.form()
    generation = group.group.membership.generation  # type: ignore[union-attr]
    group.commit({"orders": {0: 10}}, member, generation)
    group.leave(member)
    group.sleep(2 * HOUR)
    assert group.group.membership is None
    group.consumers.join("a", ["orders"])
    group.consumers.leave("a")
    group.sleep(2 * DAY)

    assert removals(group, DAY) == [Removal("orders", 0, 10, 0, DAY)]


def test_the_retention_of_then_removes_what_it_removed() -> None:
    """Members come and go, transactions hold partitions, groups die and come back."""
    removed = 0
    for seed in range(50):
        group, random = living(retention_ms=DAY), Random(seed)  # noqa: S311 - the same lives every time
        group.learn_topics(ORDERS, REFUNDS)
        for offset in range(60):
            live_on(group, random, offset)

        found = removals(group, DAY)
        assert [(gone.topic, gone.partition, gone.removed_at_ms) for gone in found] == [
            (record.topic, record.partition, at_ms)
            for at_ms, record in group.timed_log
            if isinstance(record, OffsetRecord) and record.reason is Reason.OFFSET_EXPIRED
        ]
        assert [gone.lost_at_ms for gone in found] == [gone.removed_at_ms for gone in found]
        removed += len(found)
    assert removed > 100


def live_on(group: GroupHistory, random: Random, offset: int) -> None:
    topic, partition = random.choice(["orders", "refunds"]), random.randrange(2)
    match random.randrange(7):
        case 0 | 1:
            group.commit({topic: {partition: offset}})
        case 2:
            group.commit_in_transaction(17, topic, partition, offset)
        case 3:
            group.end_transaction(17, is_commit=random.random() < 0.5)
        case 4:
            group.consumers.join("a", [topic])
        case 5 if "a" in group.consumers.epochs:
            group.consumers.leave("a")
        case _:
            group.sleep(random.choice([1, HOUR, DAY - 1, DAY]))
