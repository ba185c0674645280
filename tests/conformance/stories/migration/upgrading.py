"""Classic groups that turn into consumer groups under their members (online upgrade)."""

from __future__ import annotations

from tests.conformance.language.consumer_script import UNCHANGED, ConsumerScript
from tests.conformance.language.lines import PARKED
from tests.conformance.language.story import consumer_story
from tests.conformance.stories.migration.groups import lead_classic_group

NO_GROUP, UNKNOWN, REBALANCE, ILLEGAL_GENERATION = 69, 25, 27, 22


@consumer_story()
def a_heartbeat_of_a_later_epoch_upgrades_nothing(s: ConsumerScript) -> None:
    """testConsumerGroupHeartbeatWithNonEmptyClassicGroup: epoch 0 only."""
    s.cluster("orders:2")
    s.commit("orders-0=1")
    s.beat("m1", sent_epoch=1, error=NO_GROUP, also="")
    s.quit("m1", error=NO_GROUP, also="")
    other = s.other("h")
    lead_classic_group(other, {"c1": "orders:01"})
    other.beat("m1", sent_epoch=1, error=NO_GROUP, also="")
    other.quit("m1", error=NO_GROUP, also="")
    other.pause("m1", instance="i1", error=NO_GROUP, also="")


@consumer_story()
def a_stable_classic_group_is_upgraded(s: ConsumerScript) -> None:
    """testConsumerGroupHeartbeatWithStableClassicGroup: members keep what they have; the newcomer's epoch is one more."""
    s.cluster("orders:4")
    lead_classic_group(s, {"c1": "orders:0123"})
    s.enter("m1", epoch=2, assigned="")
    s.describe_consumers(state="Reconciling", epoch=2, target_epoch=2)
    s.heartbeat("c1", 1, error=REBALANCE)
    s.classic("c1", owned="orders:0123")
    s.synced("c1")
    s.heartbeat("c1", "#c1", error=REBALANCE)
    s.classic("c1", owned="@c1")
    s.synced("c1")
    s.heartbeat("c1", "#c1")
    s.ack("m1")
    s.describe_consumers(state="Stable", epoch=2)
    s.look()


@consumer_story()
def two_members_are_upgraded(s: ConsumerScript) -> None:
    """testOnlineMigrationWithCooperativeAssignmentStrategyAndDynamicMembers: one after the other changes its protocol."""
    s.cluster("orders:6")
    lead_classic_group(s, {"c1": "orders:012", "c2": "orders:345"})
    s.enter("m1", epoch=2, assigned="")
    for name, had in (("c1", "orders:012"), ("c2", "orders:345")):
        s.heartbeat(name, 1, error=REBALANCE)
        s.classic(name, owned=had)
        s.synced(name)
        s.heartbeat(name, "#" + name, error=REBALANCE)
        s.classic(name, owned=f"@{name}")
        s.synced(name)
    s.ack("m1", epoch=2)
    s.describe_consumers(state="Stable", epoch=2)
    s.leave("c1")
    s.enter("m2")
    s.settle("m1", "m2")
    s.heartbeat("c2", "#c2", error=REBALANCE)
    s.leave("c2")
    s.enter("m3")
    s.settle("m1", "m2", "m3")
    s.describe_consumers(state="Stable")


@consumer_story()
def an_eager_group_is_upgraded(s: ConsumerScript) -> None:
    """testOnlineMigrationWithEagerAssignmentStrategyAndDynamicMembers: who owns nothing gives nothing back."""
    s.cluster("orders:4")
    lead_classic_group(s, {"c1": "orders:0123"}, metadata_version=0)
    s.enter("m1", epoch=2, assigned="")
    s.heartbeat("c1", 1, error=REBALANCE)
    s.classic("c1", metadata_version=0)
    s.synced("c1")
    s.ack("m1")
    s.describe_consumers(state="Stable", epoch=2)
    s.leave("c1")
    s.ack("m1", epoch=3, assigned="orders:0123")
    s.describe_consumers(state="Stable", epoch=3)


@consumer_story()
def static_members_are_upgraded_one_by_one(s: ConsumerScript) -> None:
    """testOnlineMigrationWithCooperativeAssignmentStrategyAndStaticMembers: each keeps what it had."""
    s.cluster("orders:4")
    for number in (1, 2):
        s.classic(f"c{number}", chosen_id=False, instance=f"i{number}", error=PARKED)
    s.at(4_000)
    s.at(7_000, "JoinGroup=0 JoinGroup=0")
    s.synced("c2", instance="i2", error=PARKED)
    s.lead("c1", {"c1": "orders:01", "c2": "orders:23"}, instance="i1", also="+group SyncGroup=0")
    s.enter("m1", instance="i1", epoch=1, assigned="orders:01")
    s.describe_consumers(epoch=1)
    s.heartbeat("c2", 1, instance="i2")
    s.enter("m2", instance="i2")
    s.settle("m1", "m2")
    s.describe_consumers(state="Stable")


@consumer_story()
def eager_static_members_are_upgraded_one_by_one(s: ConsumerScript) -> None:
    """testOnlineMigrationWithEagerAssignmentStrategyAndStaticMembers: each restarts with the other protocol."""
    s.cluster("orders:4")
    for number in (1, 2):
        s.classic(
            f"c{number}", chosen_id=False, instance=f"i{number}", metadata_version=0, error=PARKED
        )
    s.at(4_000)
    s.at(7_000, "JoinGroup=0 JoinGroup=0")
    s.synced("c2", instance="i2", error=PARKED)
    s.lead("c1", {"c1": "orders:01", "c2": "orders:23"}, instance="i1", also="+group SyncGroup=0")
    s.enter("m1", instance="i1", epoch=1, assigned="orders:01")
    s.enter("m2", instance="i2", epoch=1, assigned="orders:23")
    s.describe_consumers(state="Stable", epoch=1)
    s.quit("m1")
    s.ack("m2", epoch=2, assigned="orders:0123")


@consumer_story()
def a_static_member_with_another_wish_upgrades_its_group(s: ConsumerScript) -> None:
    """testConsumerGroupHeartbeatToClassicGroupFromExistingStaticMember."""
    s.cluster("orders:4", "audit:2")
    s.classic("c1", chosen_id=False, instance="i1", error=PARKED)
    s.at(4_000, "JoinGroup=0")
    s.lead("c1", {"c1": "orders:0123"}, instance="i1")
    s.enter("m1", "orders audit", instance="i1", epoch=2)
    s.describe_consumers(state="Stable", epoch=2, holds={"m1": "orders:0123 audit:01"})


@consumer_story()
def who_waits_to_join_is_told_of_the_upgrade(s: ConsumerScript) -> None:
    """testConsumerGroupHeartbeatWithPreparingRebalanceClassicGroup: parked joins get 27."""
    s.cluster("orders:4")
    lead_classic_group(s, {"c1": "orders:0123"})
    s.classic("c2", version=3, chosen_id=False, error=PARKED)
    s.enter("m1", also=None)
    s.look()
    s.describe_consumers()
    s.heartbeat("c1", 1, error=REBALANCE)


@consumer_story()
def who_waits_to_sync_is_told_of_the_upgrade(s: ConsumerScript) -> None:
    """testConsumerGroupHeartbeatWithCompletingRebalanceClassicGroup: parked syncs get 27."""
    s.cluster("orders:4")
    s.classic("c1", version=3, chosen_id=False, error=PARKED)
    s.classic("c2", version=3, chosen_id=False, error=PARKED)
    s.at(4_000)
    s.at(7_000, "JoinGroup=0 JoinGroup=0")
    s.synced("c2", error=PARKED)
    s.enter("m1")
    s.describe_consumers(epoch=2)
    s.heartbeat("c1", 1, error=REBALANCE)
    s.heartbeat("c2", 1, error=REBALANCE)


@consumer_story()
def an_upgrade_during_the_first_rebalance(s: ConsumerScript) -> None:
    """No protocol was chosen yet: Kafka fails, but only after it told those who wait."""
    s.cluster("orders:4")
    s.classic("c1", version=3, chosen_id=False, error=PARKED)
    s.enter("m1", error=-1, also="JoinGroup=27")
    s.describe_consumers(error=NO_GROUP)
    s.at(3_999)
    s.look()
    s.at(4_000, "+group")
    s.look()


@consumer_story()
def an_upgrade_with_a_pending_member(s: ConsumerScript) -> None:
    """Who has only got an id is forgotten; it may still come."""
    s.cluster("orders:4")
    lead_classic_group(s, {"c1": "orders:0123"})
    s.classic("c2", version=4, chosen_id=False, error=79)
    s.enter("m1", epoch=2)
    s.classic("c2", version=4, chosen_id=False)
    s.describe_consumers()


@consumer_story()
def sessions_after_an_upgrade(s: ConsumerScript) -> None:
    """Classic members keep their own session timeouts, which begin anew."""
    s.cluster("orders:4")
    lead_classic_group(s, {"c1": "orders:0123"}, session=10_000)
    s.at(12_000)
    s.enter("m1", epoch=2)
    s.at(21_999)
    s.at(22_000, "-current:c1 -target:c1 -member:c1 +epoch=3")
    s.describe_consumers(state="Assigning", epoch=3)


@consumer_story()
def a_member_of_the_classic_group_comes_as_a_consumer(s: ConsumerScript) -> None:
    """testConsumerGroupHeartbeatWithStableClassicGroup: with its own id."""
    s.cluster("orders:4")
    lead_classic_group(s, {"c1": "orders:0123"})
    s.beat("c1", sent_epoch=0, topics="orders", owns="", rebalance=60_000)
    s.describe_consumers()
    s.heartbeat("c1", 1, error=UNKNOWN)


@consumer_story()
def commits_and_offsets_live_through_an_upgrade(s: ConsumerScript) -> None:
    """Offsets belong to the group, whatever it is."""
    s.cluster("orders:4")
    lead_classic_group(s, {"c1": "orders:0123"})
    s.commit("orders-0=1", version=8, member="c1", generation=1)
    s.txn_commit("orders-1=1", member="c1", generation=1)
    s.enter("m1", epoch=2)
    s.commit("orders-0=2", version=8, member="c1", generation=1)
    s.commit("orders-0=2", version=8, member="c1", generation=2, error=ILLEGAL_GENERATION)
    s.end_txn()
    s.fetch(version=9, stable=True)
    s.look()


@consumer_story()
def topics_that_went_before_the_upgrade(s: ConsumerScript) -> None:
    """Assigned partitions of topics that are not there any more are left out."""
    s.cluster("orders:2", "audit:2")
    lead_classic_group(s, {"c1": "orders:01 audit:01"}, topics="orders audit")
    s.cluster("orders:2")
    s.enter("m1", epoch=2)
    s.describe_consumers()


@consumer_story(group_consumer_assignment_interval_ms=5_000)
def an_upgrade_needs_no_interval(s: ConsumerScript) -> None:
    """testCanComputeNextTargetAssignmentWithNoPreviousAssignmentTimestamp: the first target comes at once."""
    s.cluster("orders:4")
    lead_classic_group(s, {"c1": "orders:0123"})
    s.enter("m1", epoch=2, assigned="")
    s.enter("m2", epoch=2, assigned=None)
    s.describe_consumers(epoch=3, target_epoch=2)
    s.at(9_000)
    s.ack("m1", epoch=3, assigned=UNCHANGED)


@consumer_story()
def after_an_upgrade_the_topics_are_looked_at_again(s: ConsumerScript) -> None:
    """Not among Kafka's tests: until when its metadata counts is forgotten with the object that the upgrade began with.

    So the member that comes back without topics counts as different, though nothing of the group's topics is new.
    """
    s.cluster("orders:1", "audit:1", "billing:1")
    lead_classic_group(s, {"c1": "orders:0"})
    s.enter("ml", "audit billing", epoch=2)
    s.leave("c1")
    s.classic("c1", "")
    s.describe_consumers(targets={"ml": "audit:0 billing:0"})
