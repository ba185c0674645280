"""Consumer groups that turn into classic groups when the last consumer member goes (online downgrade)."""

from __future__ import annotations

from tests.conformance.language.consumer_script import ConsumerScript
from tests.conformance.language.lines import PARKED
from tests.conformance.language.story import consumer_story
from tests.conformance.stories.migration.groups import lead_classic_group, mix

UNKNOWN, REBALANCE, NO_GROUP = 25, 27, 69
OF_ONE = "-current:m1 -target:m1 -member:m1"
OF_CLASSIC = "-current:c1 -target:c1 -member:c1"
OF_GROUP = "-targets -metadata -epoch +group"


@consumer_story()
def the_last_consumer_member_leaves(s: ConsumerScript) -> None:
    """testLastConsumerProtocolMemberLeavingConsumerGroup: back to a classic group, which rebalances at once."""
    s.cluster("orders:4")
    mix(s)
    s.describe_consumers(state="Stable", epoch=3)
    s.quit("m1", epoch=-1)
    s.look()
    s.describe()
    s.heartbeat("c1", 3, error=REBALANCE)
    s.classic("c1", owned="orders:23", also="")
    s.lead("c1", {"c1": "orders:0123"})
    s.heartbeat("c1", "#c1")
    s.describe()


@consumer_story()
def the_last_consumer_member_is_lost(s: ConsumerScript) -> None:
    """testLastConsumerProtocolMemberSessionTimeoutInConsumerGroup."""
    s.cluster("orders:4")
    mix(s, session=30_000)
    s.at(25_000)
    s.heartbeat("c1", "#c1")
    s.at(45_999)
    s.at(46_000, f"{OF_ONE} {OF_CLASSIC} {OF_GROUP}")
    s.heartbeat("c1", 3, error=REBALANCE)
    s.look()


@consumer_story()
def the_last_consumer_member_gives_nothing_back(s: ConsumerScript) -> None:
    """testLastConsumerProtocolMemberRebalanceTimeoutInConsumerGroup."""
    s.cluster("orders:4")
    s.enter("m1", rebalance=10_000)
    s.classic("c1", session=30_000)
    s.synced("c1")
    s.at(2_000)
    s.beat("m1", owns="orders:0123", assigned="orders:01")
    s.at(11_999)
    s.at(12_000, f"{OF_ONE} {OF_CLASSIC} {OF_GROUP}")
    s.look()
    s.heartbeat("c1", 3, error=REBALANCE)


@consumer_story()
def the_last_consumer_member_is_taken_out(s: ConsumerScript) -> None:
    """testLastConsumerProtocolMemberLeavingConsumerGroupByAdminApi."""
    s.cluster("orders:4")
    mix(s)
    s.leave("m1")
    s.look()
    s.heartbeat("c1", 3, error=REBALANCE)


@consumer_story()
def two_of_three_leave_together(s: ConsumerScript) -> None:
    """testLastConsumerProtocolMemberLeavingConsumerGroupByAdminApi: both kinds in one request."""
    s.cluster("orders:4")
    mix(s)
    s.classic("c2", topics="audit")
    s.leave("m1", "c2")
    s.look()
    s.describe()


@consumer_story()
def the_last_consumer_member_is_replaced(s: ConsumerScript) -> None:
    """testLastStaticConsumerProtocolMemberReplacedByClassicProtocolMember: no rebalance is needed."""
    s.cluster("orders:4")
    s.enter("m1", instance="i1")
    s.classic("c1", chosen_id=False, instance="i2")
    s.settle("m1")
    s.classic("c1", instance="i2")
    s.synced("c1", instance="i2")
    s.pause("m1")
    s.classic("c2", chosen_id=False, instance="i1")
    s.look()
    s.describe()
    s.heartbeat("c1", 3, instance="i2")
    s.synced("c2", instance="i1")


@consumer_story()
def the_last_consumer_member_is_replaced_while_it_is_there(s: ConsumerScript) -> None:
    """testLastStaticConsumerProtocolMemberReplacedByClassicProtocolMember: the only one in the group."""
    s.cluster("orders:4")
    s.enter("m1", instance="i1")
    s.classic("c1", chosen_id=False, instance="i1")
    s.look()
    s.describe()
    s.synced("c1", instance="i1")
    s.beat("m1", sent_epoch=2, error=NO_GROUP)


@consumer_story(group_consumer_assignment_interval_ms=5_000)
def the_last_consumer_member_is_replaced_before_a_new_target(s: ConsumerScript) -> None:
    """testLastStaticConsumerProtocolMemberReplacedByClassicProtocolMemberWhenTargetAssignmentIsStale."""
    s.cluster("orders:4")
    s.enter("m1", instance="i1")
    s.classic("c1")
    s.describe_consumers(epoch=3, target_epoch=2)
    s.classic("c2", chosen_id=False, instance="i1")
    s.look()
    s.describe()
    s.at(10_999)
    s.at(11_000, "+group")


@consumer_story()
def the_last_consumer_member_is_replaced_with_another_wish(s: ConsumerScript) -> None:
    """testLastStaticConsumerProtocolMemberReplacedByClassicProtocolMember: then there is a rebalance."""
    s.cluster("orders:4", "audit:2")
    s.enter("m1", instance="i1")
    s.classic("c1")
    s.settle("m1")
    s.classic("c2", "orders audit", chosen_id=False, instance="i1", also=None)
    s.look()
    s.describe()


@consumer_story()
def a_join_phase_from_before_the_upgrade(s: ConsumerScript) -> None:
    """Neither conversion cancels its timer: it takes dynamic members out of the new Stable group, without a record."""
    s.cluster("orders:4")
    lead_classic_group(s, {"c1": "orders:0123"}, session=300_000, rebalance=20_000)
    s.classic("c2", version=3, chosen_id=False, session=300_000, rebalance=20_000, error=PARKED)
    s.at(10_000)
    s.enter("m1", instance="i1")
    s.classic("c3", chosen_id=False, instance="i1", session=300_000)
    s.describe()
    s.at(23_999)
    s.heartbeat("c1", 2)
    s.at(24_000)
    s.describe()
    s.heartbeat("c1", 2, error=UNKNOWN)
    s.heartbeat("c3", 2, instance="i1")


@consumer_story(group_consumer_migration_policy="upgrade")
def no_downgrade_where_only_upgrades_are_allowed(s: ConsumerScript) -> None:
    """testDowngradeMigrationPolicy."""
    s.cluster("orders:4")
    mix(s)
    s.quit("m1", also=f"{OF_ONE} +epoch=4")
    s.heartbeat("c1", "#c1")
    s.classic("c1", owned="@c1")
    s.synced("c1", assigned="orders:0123")
    s.describe_consumers(state="Stable", epoch=4)


@consumer_story(group_consumer_migration_policy="disabled")
def no_downgrade_where_it_is_disabled(s: ConsumerScript) -> None:
    """testDowngradeWithDisabledMigrationPolicy: classic members are not even let in."""
    s.cluster("orders:4")
    s.enter("m1", instance="i1")
    s.classic("c1", error=23, also="")
    s.pause("m1")
    s.classic("c2", chosen_id=False, instance="i1", error=23, also="")
    s.classic("c3", chosen_id=False, version=4, error=23, also="")
    s.describe_consumers(epoch=2)


@consumer_story(group_consumer_migration_policy="downgrade")
def a_downgrade_where_only_downgrades_are_allowed(s: ConsumerScript) -> None:
    """testDowngradeMigrationPolicy: there is no way back."""
    s.cluster("orders:4")
    mix(s)
    s.quit("m1")
    s.look()
    s.enter("m2", error=NO_GROUP)


@consumer_story()
def there_and_back_again(s: ConsumerScript) -> None:
    """testOnlineMigrationWithCooperativeAssignmentStrategyAndDynamicMembers: down, then up again."""
    s.cluster("orders:4")
    mix(s)
    s.quit("m1")
    s.classic("c1", owned="@c1")
    s.lead("c1", {"c1": "orders:0123"})
    s.enter("m2")
    s.heartbeat("c1", "#c1", error=REBALANCE)
    s.classic("c1", owned="orders:0123")
    s.synced("c1")
    s.describe_consumers(state="Reconciling")
    s.quit("m2")
    s.look()


@consumer_story()
def sessions_after_a_downgrade(s: ConsumerScript) -> None:
    """Sessions of the new classic group begin with it."""
    s.cluster("orders:4")
    mix(s, session=10_000, rebalance=15_000)
    s.at(5_000)
    s.quit("m1")
    s.at(14_999)
    s.at(15_000, "+group")
    s.look()


@consumer_story()
def who_leads_after_a_downgrade_of_a_group_that_was_larger(s: ConsumerScript) -> None:
    """Kafka's table of members keeps its size: in one of five members c5 comes before c2, in one of three behind it."""
    s.cluster("orders:4")
    s.enter("m1")
    s.classic("c5")
    s.classic("c2")
    s.enter("m2")
    s.enter("m3")
    s.quit("m2")
    s.quit("m3")
    s.quit("m1")
    s.look()


@consumer_story()
def a_downgrade_of_several_members(s: ConsumerScript) -> None:
    """testAllMembersUseClassicProtocolExcept: only when none but classic ones is left."""
    s.cluster("orders:6")
    s.enter("m1")
    s.enter("m2")
    s.classic("c1", protocols="range sticky")
    s.classic("c2", protocols="range sticky")
    s.quit("m1", also=f"{OF_ONE} +epoch=6")
    s.quit("m2")
    s.look()
    s.describe()
    s.classic("c1", protocols="range sticky", error=PARKED)
    s.classic("c2", protocols="range sticky", also="JoinGroup=0")


@consumer_story()
def expressions_go_with_a_downgrade(s: ConsumerScript) -> None:
    """testLastConsumerProtocolMemberLeavingConsumerGroup: all that was known of a consumer group is tombstoned."""
    s.cluster("orders:4")
    s.enter("m1", None, regex="or.*")
    s.ack("m1")
    s.classic("c1")
    s.quit("m1")
    s.look()


@consumer_story()
def offsets_live_through_a_downgrade(s: ConsumerScript) -> None:
    """Offsets belong to the group, whatever it is."""
    s.cluster("orders:4")
    mix(s)
    s.commit("orders-0=1", version=9, member="m1", generation=3)
    s.commit("orders-2=1", version=8, member="c1", generation=3)
    s.quit("m1")
    s.fetch(version=9)
    s.commit("orders-2=2", version=8, member="c1", generation=3)
    s.delete_offsets("orders-0", error=(0, 86))


@consumer_story()
def a_static_consumer_that_is_away_holds_off_a_downgrade(s: ConsumerScript) -> None:
    """Who is away is still a consumer member."""
    s.cluster("orders:4")
    s.enter("m1", instance="i1")
    s.enter("m2")
    s.classic("c1", session=40_000)
    s.pause("m1")
    s.quit("m2", also="-current:m2 -target:m2 -member:m2 +epoch=5")
    s.describe_consumers(epoch=5)
    s.at(40_999)
    s.at(41_000, f"{OF_CLASSIC} +epoch=6")
    s.at(46_000, f"{OF_ONE} +epoch=7 +targets=7")
    s.look()


@consumer_story()
def a_topic_that_went_before_the_downgrade(s: ConsumerScript) -> None:
    """What the assignment of the new classic group cannot name is left out."""
    s.cluster("orders:2", "audit:2")
    mix(s, "orders audit")
    s.cluster("audit:2")
    s.quit("m1")
    s.describe()
