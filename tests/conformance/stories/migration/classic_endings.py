"""How classic members leave a consumer group, or are lost: LeaveGroup, sessions, joins and syncs that do not come in time."""

from __future__ import annotations

from tests.conformance.language.consumer_script import ConsumerScript
from tests.conformance.language.story import consumer_story

UNKNOWN, REBALANCE = 25, 27


@consumer_story()
def a_classic_session_in_a_consumer_group(s: ConsumerScript) -> None:
    """testConsumerGroupMemberUsingClassicProtocolFencedWhenSessionTimeout, testClassicGroupHeartbeatToConsumerGroupMaintainsSession."""
    s.cluster("orders:4")
    s.enter("m1")
    s.classic("c1", session=10_000)
    s.synced("c1")
    s.at(10_999)
    s.heartbeat("c1", "#c1")
    s.at(15_000)
    s.ack("m1")
    s.at(20_998)
    s.at(20_999, "-current:c1 -target:c1 -member:c1 +epoch=4")
    s.heartbeat("c1", 3, error=UNKNOWN)


@consumer_story()
def a_classic_member_does_not_sync_in_time(s: ConsumerScript) -> None:
    """testConsumerGroupMemberUsingClassicProtocolFencedWhenJoinTimeout: after its rebalance timeout, heartbeats or not."""
    s.cluster("orders:4")
    s.enter("m1")
    s.classic("c1", rebalance=12_000, session=30_000)
    s.at(10_000)
    s.heartbeat("c1", "#c1")
    s.at(12_999)
    s.at(13_000, "-current:c1 -target:c1 -member:c1 +epoch=4")


@consumer_story()
def a_classic_member_does_not_join_again_in_time(s: ConsumerScript) -> None:
    """testConsumerGroupMemberUsingClassicProtocolFencedWhenJoinTimeout: from the first 27 on."""
    s.cluster("orders:4")
    s.enter("m1")
    s.classic("c1", rebalance=12_000, session=30_000)
    s.synced("c1")
    s.settle("m1")
    s.at(2_000)
    s.heartbeat("c1", "#c1", error=REBALANCE)
    s.at(9_000)
    s.heartbeat("c1", "#c1", error=REBALANCE)
    s.at(13_999)
    s.at(14_000, "-current:c1 -target:c1 -member:c1 +epoch=4")


@consumer_story()
def timers_of_a_replaced_member_wait_for_its_id(s: ConsumerScript) -> None:
    """A copy takes the place of a member that has yet to sync; whoever comes back under the old id is out when that time is over."""
    s.cluster("orders:4")
    s.enter("m1")
    s.classic("d1", chosen_id=False, instance="i1", rebalance=12_000, session=30_000)
    s.at(2_000)
    s.enter("s1", instance="i1")
    s.pause("s1")
    s.at(3_000)
    s.enter("d1", instance="i1")
    s.at(12_999)
    s.at(13_000, "-current:d1 -target:d1 -member:d1 +epoch=4")


@consumer_story()
def a_classic_member_joins_again_in_time(s: ConsumerScript) -> None:
    """testClassicGroupHeartbeatToConsumerGroupRebalanceInProgress: its join ends one timer and starts another."""
    s.cluster("orders:4")
    s.enter("m1")
    s.classic("c1", rebalance=12_000, session=30_000)
    s.synced("c1")
    s.settle("m1")
    s.at(2_000)
    s.heartbeat("c1", "#c1", error=REBALANCE)
    s.at(13_999)
    s.classic("c1", rebalance=12_000, session=30_000)
    s.at(25_998)
    s.synced("c1", assigned="orders:23")
    s.at(26_500)
    s.heartbeat("c1", "#c1")


@consumer_story()
def classic_members_leave_a_consumer_group(s: ConsumerScript) -> None:
    """testConsumerGroupMemberUsingClassicProtocolBatchLeaveGroup: one epoch for all who leave together."""
    s.cluster("orders:4")
    s.enter("m1")
    s.classic("c1")
    s.classic("c2", chosen_id=False, instance="i2")
    s.classic("c3", chosen_id=False, instance="i3")
    s.leave(
        "c1",
        "c2@i2",
        "@i3",
        also="-current:c1 -target:c1 -member:c1 -current:c2 -target:c2 -member:c2"
        " -current:c3 -target:c3 -member:c3 +epoch=6",
    )
    s.describe_consumers(epoch=6)


@consumer_story()
def wrong_leaves_of_a_consumer_group(s: ConsumerScript) -> None:
    """testClassicGroupLeaveToConsumerGroupWithoutValidLeaveGroupMember: each has its own error, no new epoch."""
    s.cluster("orders:4")
    s.enter("m1")
    s.enter("m2", instance="i2")
    s.classic("c1", chosen_id=False, instance="i1")
    s.leave("c9", "@i9", "c9@i1", error=(0, 25, 25, 82), also="")
    s.leave("c9", version=2, error=25, also="")
    s.leave("c9", "c1@i1", error=(0, 25, 0))
    s.describe_consumers(epoch=5)
    s.look()


@consumer_story()
def administrators_take_consumer_members_out(s: ConsumerScript) -> None:
    """testLastConsumerProtocolMemberLeavingConsumerGroupByAdminApi: LeaveGroup about members of the new protocol."""
    s.cluster("orders:4")
    s.enter("m1", instance="i1")
    s.enter("m2")
    s.enter("m3")
    s.leave("@i1", also="-current:m1 -target:m1 -member:m1 +epoch=5")
    s.leave("m2", "m3", version=5, reason="maintenance")
    s.beat("m2", sent_epoch=3, error=25)
    s.describe_consumers(state="Empty", epoch=6)


@consumer_story()
def administrators_take_everybody_out(s: ConsumerScript) -> None:
    """One epoch for all of them, and nothing is left to assign."""
    s.cluster("orders:4")
    s.gather("m1", "m2")
    s.enter("m3", instance="i3")
    gone = " ".join(f"-{kind}:m{n}" for n in "123" for kind in ("current", "target", "member"))
    s.leave("m2", "m9", "@i3", "m1", error=(0, 0, 25, 0, 0), also=f"{gone} +epoch=5 +targets=5")
    s.describe_consumers(state="Empty", epoch=5, target_epoch=5)
    s.enter("m1", epoch=6, assigned="orders:0123")


@consumer_story(group_consumer_migration_policy="upgrade")
def the_last_classic_members_leave_together(s: ConsumerScript) -> None:
    """Where there is no way back the group stays a consumer group to its end."""
    s.cluster("orders:4")
    s.enter("m1")
    s.classic("c1")
    s.classic("c2")
    s.quit("m1", also="-current:m1 -target:m1 -member:m1 +epoch=5")
    gone = " ".join(f"-{kind}:c{n}" for n in "12" for kind in ("current", "target", "member"))
    s.leave("c1", "c2", also=f"{gone} +epoch=6 +targets=6")
    s.describe_consumers(state="Empty", epoch=6, target_epoch=6)


@consumer_story()
def administrators_take_out_members_with_expressions(s: ConsumerScript) -> None:
    """testResolvedRegularExpressionsRemovedWhenConsumerMembersRemovedByAdminApi."""
    s.cluster("orders:2")
    s.enter("m1", None, regex="or.*", instance="i1")
    s.ack("m1")
    s.enter("m2", None, regex="or.*")
    s.leave("@i1", also="-current:m1 -target:m1 -member:m1 +epoch=4")
    s.leave("m2", also="-current:m2 -target:m2 -member:m2 -regex:or.* +epoch=5 +targets=5")


@consumer_story()
def a_classic_leave_takes_topics_out_of_the_hash(s: ConsumerScript) -> None:
    """testConsumerGroupMemberUsingClassicProtocolBatchLeaveGroupUpdatingSubscriptionMetadata."""
    s.cluster("orders:2", "audit:2")
    s.enter("m1", "orders")
    s.classic("c1", "audit")
    s.leave("c1", also="-current:c1 -target:c1 -member:c1 +epoch=4")
    s.ack("m1", epoch=4)
