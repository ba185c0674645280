"""What holds for consumer groups whatever happens to them."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from group_coordinator.codecs import snapshots
from group_coordinator.core.consumer.update import ids_of, topic_names_of
from group_coordinator.core.model.classic_member import ConsumerState
from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.group import Group
from group_coordinator.core.replay import replay
from group_coordinator.testing import GroupDriver
from tests.property.consumer_lives import STEPS, Life, Steps, compacted, life_of

Lives = st.lists(STEPS, max_size=30)


def no_partition_is_with_two(driver: GroupDriver) -> None:
    group = driver.group.consumer
    if group is None:
        return
    held = [
        (topic_id, partition, member.member_id)
        for member in group.members.values()
        for partitions in (member.current.assigned, member.current.pending_revocation)
        for topic_id, of_topic in partitions.items()
        for partition in of_topic
    ]
    assert len(held) == len({(topic_id, partition) for topic_id, partition, _ in held})
    assert [group.owner_of(topic_id, partition) for topic_id, partition, _ in held] == [
        member_id for _, _, member_id in held
    ]
    assert sum(map(len, group.owners.by_neighbours.values())) == len(held)


@given(Lives)
def test_no_partition_is_ever_with_two_members(steps: Steps) -> None:
    life_of(steps, no_partition_is_with_two)


def no_client_has_what_another_has(life: Life) -> None:
    held = [
        (topic_id, partition)
        for owned in life.owned.values()
        for topic_id, partitions in owned.items()
        for partition in partitions
    ]
    assert len(held) == len(set(held))


@given(Lives)
def test_an_undisturbed_group_converges_to_its_target(steps: Steps) -> None:
    life = life_of(steps)
    life.settle()

    group = life.driver.group.consumer
    if group is None or not group.members or not life.driver.consumers.epochs:
        return
    away = [m for m in group.members.values() if m.epoch < 0]
    silent = group.members.keys() - life.driver.consumers.epochs.keys()
    if away or silent:
        return
    assert group.state is ConsumerState.STABLE
    for member_id, member in group.members.items():
        wanted = ids_of(life.driver.group, topic_names_of(group, member.metadata))
        # Kafka takes members with a pattern for alike until its topics are known, and may aim at what a member never wanted.
        aim = {t: p for t, p in group.target_of(member_id).items() if t in wanted}
        has = {t: tuple(p) for t, p in member.current.assigned.items()}
        assert has == aim == life.owned[member_id]
    no_client_has_what_another_has(life)


@given(Lives)
def test_a_repeated_heartbeat_changes_nothing(steps: Steps) -> None:
    life = life_of(steps)
    life.settle()

    for member_id in list(life.driver.consumers.epochs):
        outcome = life.driver.consumers.beat(member_id, life.owned[member_id])
        assert outcome.records == ()
        assert not outcome.response.error


def durable(group: Group) -> ConsumerGroup | None:
    """The membership without what is not in the log; members in the order of their ids."""
    membership = group.consumer
    if membership is None:
        return None
    return replace(
        membership,
        timers={},
        rebalance_epochs={},
        metadata_deadline_ms=0,
        static_members={},
        member_room=0,
        former_subscription_type=None,
    )


@given(Lives, st.data())
def test_the_log_rebuilds_the_group_also_after_compaction(
    steps: Steps, data: st.DataObject
) -> None:
    driver = life_of(steps).driver
    upto = data.draw(st.integers(0, len(driver.log)))

    for log in (driver.log, compacted(driver.log, upto)):
        group = Group("g")
        replay(group, log, driver.now_ms)
        assert durable(group) == durable(driver.group)


@given(Lives)
def test_a_snapshot_is_the_group(steps: Steps) -> None:
    driver = life_of(steps).driver
    blob = snapshots.dump(driver.group)
    restored = snapshots.load("g", blob)

    assert restored == driver.group
    assert snapshots.dump(restored) == blob


@given(Lives)
def test_nothing_overdue_is_left(steps: Steps) -> None:
    def check(driver: GroupDriver) -> None:
        deadline_ms = driver.next_deadline_ms
        assert deadline_ms is None or deadline_ms > driver.now_ms

    life_of(steps, check)


@given(Lives)
def test_epochs_never_go_back(steps: Steps) -> None:
    seen: dict[str, int] = {}

    def check(driver: GroupDriver) -> None:
        group = driver.group.consumer
        epoch = 0 if group is None else group.epoch
        if group is not None and group.members:
            assert epoch >= seen.get("epoch", 0)
        seen["epoch"] = epoch

    life_of(steps, check)
