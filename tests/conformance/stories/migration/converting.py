"""Empty groups that turn into groups of the other kind, whatever the policy."""

from __future__ import annotations

from tests.conformance.language.consumer_script import ConsumerScript
from tests.conformance.language.lines import PARKED
from tests.conformance.language.story import consumer_story
from tests.conformance.stories.migration.groups import lead_classic_group

UNKNOWN = 25


@consumer_story()
def an_empty_classic_group_becomes_a_consumer_group(s: ConsumerScript) -> None:
    """testConsumerGroupHeartbeatWithEmptyClassicGroup, testUpgradeFromEmptyClassicToConsumerGroupWithBidirectionalPolicy."""
    s.cluster("orders:2")
    lead_classic_group(s, {"c1": "orders:01"})
    s.commit("orders-0=1", version=8, member="c1", generation=1)
    s.leave("c1")
    s.enter(
        "m1",
        epoch=2,
        assigned="orders:01",
        also="-group +member:m1 +epoch=2 +target:m1 +targets=2 +current:m1",
    )
    s.fetch("orders-0", version=9, member="m1", sent_epoch=2)
    s.look()


@consumer_story(group_consumer_migration_policy="disabled")
def an_empty_classic_group_whatever_the_policy(s: ConsumerScript) -> None:
    """testUpgradeFromEmptyClassicToConsumerGroupWithDisabledPolicy."""
    s.cluster("orders:2")
    lead_classic_group(s, {"c1": "orders:01"})
    s.leave("c1")
    s.enter("m1", epoch=2, assigned="orders:01")


@consumer_story(group_consumer_migration_policy="downgrade")
def an_empty_classic_group_with_the_policy_of_downgrades(s: ConsumerScript) -> None:
    """testUpgradeFromEmptyClassicToConsumerGroupWithDowngradePolicy."""
    s.cluster("orders:2")
    lead_classic_group(s, {"c1": "orders:01"})
    s.leave("c1")
    s.enter("m1", epoch=2, assigned="orders:01")


@consumer_story()
def a_simple_group_becomes_a_consumer_group(s: ConsumerScript) -> None:
    """testUpgradeFromSimpleGroupToConsumerGroupWithBidirectionalPolicy: its offsets stay."""
    s.cluster("orders:2")
    s.commit("orders-0=1")
    s.enter("m1", epoch=2, also="-group +member:m1 +epoch=2 +target:m1 +targets=2 +current:m1")
    s.fetch(version=9, member="m1", sent_epoch=2)


@consumer_story(group_consumer_migration_policy="upgrade")
def an_empty_classic_group_with_the_policy_of_upgrades(s: ConsumerScript) -> None:
    """testUpgradeFromEmptyClassicToConsumerGroupWithUpgradePolicy."""
    s.cluster("orders:2")
    lead_classic_group(s, {"c1": "orders:01"})
    s.leave("c1")
    s.enter("m1", epoch=2, assigned="orders:01")


@consumer_story(group_consumer_migration_policy="upgrade")
def a_simple_group_with_the_policy_of_upgrades(s: ConsumerScript) -> None:
    """testUpgradeFromSimpleGroupToConsumerGroupWithUpgradePolicy."""
    s.cluster("orders:2")
    s.commit("orders-0=1")
    s.enter("m1", epoch=2)
    s.look()


@consumer_story(group_consumer_migration_policy="downgrade")
def a_simple_group_with_the_policy_of_downgrades(s: ConsumerScript) -> None:
    """testUpgradeFromSimpleGroupToConsumerGroupWithDowngradePolicy."""
    s.cluster("orders:2")
    s.commit("orders-0=1")
    s.enter("m1", epoch=2)
    s.look()


@consumer_story(group_consumer_migration_policy="disabled")
def a_simple_group_whatever_the_policy(s: ConsumerScript) -> None:
    """testUpgradeFromSimpleGroupToConsumerGroupWithDisabledPolicy."""
    s.cluster("orders:2")
    s.commit("orders-0=1")
    s.enter("m1", epoch=2)
    s.look()


@consumer_story()
def an_empty_consumer_group_becomes_a_classic_group(s: ConsumerScript) -> None:
    """testClassicGroupJoinWithEmptyConsumerGroup, testDowngradeFromEmptyConsumerToClassicGroupWithBidirectionalPolicy."""
    s.cluster("orders:2")
    s.enter("m1", epoch=2)
    s.commit("orders-0=1", version=9, member="m1", generation=2)
    s.quit("m1")
    s.classic("c1", version=3, chosen_id=False, error=PARKED)
    s.look()
    s.at(4_000, "JoinGroup=0")
    s.lead("c1", {"c1": "orders:01"})
    s.look()


@consumer_story(group_consumer_migration_policy="disabled")
def an_empty_consumer_group_whatever_the_policy(s: ConsumerScript) -> None:
    """testDowngradeFromEmptyConsumerToClassicGroupWithDisabledPolicy."""
    s.cluster("orders:2")
    s.enter("m1", None, regex="or.*")
    s.ack("m1")
    s.quit("m1")
    s.classic("c1", version=3, chosen_id=False, error=PARKED)
    s.at(4_000, "JoinGroup=0")


@consumer_story(group_consumer_migration_policy="upgrade")
def an_empty_consumer_group_with_the_policy_of_upgrades(s: ConsumerScript) -> None:
    """testDowngradeFromEmptyConsumerToClassicGroupWithUpgradePolicy."""
    s.cluster("orders:2")
    s.enter("m1")
    s.quit("m1")
    s.classic("c1", version=3, chosen_id=False, error=PARKED)
    s.at(4_000, "JoinGroup=0")


@consumer_story(group_consumer_migration_policy="downgrade")
def an_empty_consumer_group_with_the_policy_of_downgrades(s: ConsumerScript) -> None:
    """testDowngradeFromEmptyConsumerToClassicGroupWithDowngradePolicy."""
    s.cluster("orders:2")
    s.enter("m1")
    s.quit("m1")
    s.classic("c1", chosen_id=False, instance="i1", error=PARKED)
    s.at(4_000, "JoinGroup=0")


@consumer_story()
def an_empty_consumer_group_and_an_id_that_nobody_gave(s: ConsumerScript) -> None:
    """testClassicGroupJoinWithEmptyConsumerGroup: in a classic group ids must be given first."""
    s.cluster("orders:2")
    s.enter("m1")
    s.quit("m1")
    s.classic("c2", chosen_id=False, version=4, error=79, also="-targets -metadata -epoch +group")
    s.classic("c2", chosen_id=False, version=4, error=PARKED)
    s.classic("c1", error=UNKNOWN)
    s.at(4_000, "JoinGroup=0")
    other = s.other("h")
    other.enter("m1", sent_epoch=0)
    other.beat("m1", sent_epoch=-1)
    other.classic("c1", error=UNKNOWN, also="")
    other.look()
