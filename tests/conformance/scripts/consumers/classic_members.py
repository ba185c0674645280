"""Classic members in a consumer group: JoinGroup, SyncGroup, Heartbeat and LeaveGroup answered out of epochs and targets."""

from __future__ import annotations

from tests.conformance.consumer_script import ConsumerScript
from tests.conformance.story import consumer_story

ILLEGAL_GENERATION, INCONSISTENT, UNKNOWN, REBALANCE, NEEDS_ID, FENCED = 22, 23, 25, 27, 79, 82


@consumer_story()
def a_classic_member_joins_a_consumer_group(s: ConsumerScript) -> None:
    """testJoiningConsumerGroupWithNewDynamicMember: answered at once, its generation is its epoch."""
    s.cluster("orders:4")
    s.enter("m1", tells=2)
    s.classic("c1", gives="+member:c1 +epoch=3 +target:c1 +target:m1 +targets=3 +current:c1")
    s.describe_consumers(state="Reconciling", epoch=3)
    s.synced("c1", gets="")
    s.heartbeat("c1", "#c1")
    s.ack("m1", gets="orders:01")
    s.heartbeat("c1", "#c1")
    s.ack("m1", tells=3)
    s.heartbeat("c1", "#c1", error=REBALANCE)
    s.classic("c1", owned="")
    s.synced("c1", gets="orders:23")
    s.heartbeat("c1", "#c1")
    s.describe_consumers(state="Stable", epoch=3, holds={"c1": "orders:23"})


@consumer_story()
def a_classic_member_is_given_an_id_first(s: ConsumerScript) -> None:
    """testJoiningConsumerGroupWithNewDynamicMember: 79 from version 4 on, and nothing is remembered."""
    s.cluster("orders:4")
    s.enter("m1", tells=2)
    s.classic("c1", chosen_id=False, version=4, error=NEEDS_ID, gives="")
    s.classic("c1", chosen_id=False, version=4)
    s.classic("c2", chosen_id=False, version=3)
    s.look()


@consumer_story()
def a_classic_member_must_give_back(s: ConsumerScript) -> None:
    """testReconciliationInJoiningConsumerGroupWithCooperativeProtocol: told by 27, it joins with what it owns."""
    s.cluster("orders:4")
    s.enter("m1")
    s.classic("c1")
    s.synced("c1")
    s.settle("m1")
    s.classic("c1")
    s.synced("c1", gets="orders:23")
    s.enter("m2", tells=4, gets="")
    s.heartbeat("c1", "#c1", error=REBALANCE)
    s.classic("c1", owned="@c1")
    s.synced("c1")
    s.describe_consumers()
    s.heartbeat("c1", "#c1", error=REBALANCE)
    s.classic("c1", owned="@c1")
    s.synced("c1")
    s.heartbeat("c1", "#c1")
    s.settle("m1", "m2")
    s.heartbeat("c1", "#c1")
    s.describe_consumers(state="Stable", epoch=4)


@consumer_story()
def an_eager_classic_member_gives_back_everything(s: ConsumerScript) -> None:
    """testReconciliationInJoiningConsumerGroupWithEagerProtocol: it owns nothing when it joins again."""
    s.cluster("orders:4")
    s.enter("m1")
    s.classic("c1", metadata_version=0)
    s.synced("c1")
    s.settle("m1")
    s.heartbeat("c1", "#c1", error=REBALANCE)
    s.classic("c1", metadata_version=0)
    s.synced("c1", gets="orders:23")
    s.enter("m2")
    s.heartbeat("c1", "#c1", error=REBALANCE)
    s.classic("c1", metadata_version=0)
    s.synced("c1")
    s.settle("m1", "m2")
    s.heartbeat("c1", "#c1")
    s.describe_consumers(state="Stable")


@consumer_story()
def subscriptions_of_all_versions(s: ConsumerScript) -> None:
    """testClassicGroupSyncToConsumerGroupWithAllConsumerProtocolVersions: the assignment is of the same version."""
    s.cluster("orders:4")
    s.enter("m1", "audit")
    for version in range(4):
        s.classic(f"c{version}", metadata_version=version)
        s.synced(f"c{version}")
    s.describe_consumers()


@consumer_story()
def a_static_classic_member_joins_a_consumer_group(s: ConsumerScript) -> None:
    """testJoiningConsumerGroupWithNewStaticMember: it needs no id first."""
    s.cluster("orders:4")
    s.enter("m1")
    s.classic("c1", chosen_id=False, instance="i1")
    s.synced("c1", instance="i1")
    s.settle("m1")
    s.describe_consumers(epoch=3)
    s.look()


@consumer_story()
def a_static_classic_member_is_replaced_by_another_copy(s: ConsumerScript) -> None:
    """testJoiningConsumerGroupReplacingExistingStaticMember: classic by classic, no -2 is needed."""
    s.cluster("orders:4")
    s.enter("m1")
    s.classic("c1", chosen_id=False, instance="i1")
    s.settle("m1")
    s.classic("c2", chosen_id=False, instance="i1")
    s.synced("c2", instance="i1")
    s.heartbeat("c1", 3, instance="i1", error=FENCED)
    s.describe_consumers(epoch=3)
    s.classic("c3", "orders audit", chosen_id=False, instance="i1")
    s.describe_consumers(epoch=4)


@consumer_story()
def a_static_consumer_is_replaced_by_a_classic_one(s: ConsumerScript) -> None:
    """testJoiningConsumerGroupWithExistingStaticMemberAndNewSubscription: whether it is away or not."""
    s.cluster("orders:4", "audit:2")
    s.enter("m1", instance="i1")
    s.enter("m2")
    s.settle("m1", "m2")
    s.classic("c1", chosen_id=False, instance="i1")
    s.beat("m1", epoch=3, error=FENCED)
    s.synced("c1", instance="i1", gets="orders:01")
    s.describe_consumers(epoch=3, state="Stable")
    s.heartbeat("c1", "#c1", instance="i1")


@consumer_story()
def a_static_classic_one_is_replaced_by_a_consumer(s: ConsumerScript) -> None:
    """testConsumerGroupHeartbeatFromExistingClassicStaticMember: the way there needs no -2 either."""
    s.cluster("orders:4")
    s.enter("m1")
    s.classic("c1", chosen_id=False, instance="i1")
    s.settle("m1")
    s.enter("m2", instance="i1", tells=3)
    s.settle("m1", "m2")
    s.heartbeat("c1", 3, instance="i1", error=FENCED)
    s.describe_consumers(epoch=3, state="Stable")


@consumer_story()
def wrong_instances_of_classic_members(s: ConsumerScript) -> None:
    """testStaticMemberJoiningConsumerGroupWithUnknownInstanceId, testStaticMemberJoiningConsumerGroupWithUnmatchedMemberId."""
    s.cluster("orders:4")
    s.enter("m1")
    s.classic("c1", chosen_id=False, instance="i1")
    s.classic("c2", instance="i2", error=UNKNOWN, gives="")
    s.classic("c3", instance="i1", error=FENCED, gives="")
    s.classic("c1", instance="i1")


@consumer_story()
def classic_members_need_a_common_protocol(s: ConsumerScript) -> None:
    """testJoiningConsumerGroupThrowsExceptionIfProtocolIsNotSupported, testClassicMembersSupportedProtocols."""
    s.cluster("orders:4")
    s.enter("m1")
    s.classic("c1", protocols="range sticky")
    s.classic("c2", protocols="roundrobin", error=INCONSISTENT, gives="")
    s.classic("c2", protocol_type="connect", error=INCONSISTENT, gives="")
    s.classic("c2", protocols="", error=INCONSISTENT, gives="")
    s.classic("c2", protocols="sticky")
    s.classic("c3", protocols="range", error=INCONSISTENT)
    s.classic("c2", protocols="range", error=INCONSISTENT)
    s.classic("c3", protocols="sticky roundrobin")
    s.synced("c3", protocol="roundrobin", error=INCONSISTENT)
    s.synced("c3", protocol="range", error=INCONSISTENT)
    s.synced("c3", protocol="sticky")


@consumer_story()
def subscriptions_that_nobody_can_read(s: ConsumerScript) -> None:
    """A consumer group must know what a member wishes; there is no better error than that of a broken server."""
    s.cluster("orders:4")
    s.enter("m1")
    s.join("c1", member="c1", protocols={"range": b""}, error=-1, gives="")
    s.join("c1", member="c1", protocols={"range": b"\x00"}, error=-1, gives="")
    s.look()


@consumer_story()
def syncing_with_a_consumer_group_is_refused(s: ConsumerScript) -> None:
    """testClassicGroupSyncToConsumerGroupWithUnknownMemberId, ...FencedInstanceId, ...IllegalGeneration, ...InconsistentGroupProtocol."""
    s.cluster("orders:4")
    s.enter("m1")
    s.classic("c1", chosen_id=False, instance="i1")
    s.synced("c9", 3, error=UNKNOWN)
    s.synced("c9", 3, instance="i1", error=FENCED)
    s.synced("c1", 3, instance="i9", error=UNKNOWN)
    s.synced("c1", 2, instance="i1", error=ILLEGAL_GENERATION)
    s.synced("c1", 4, instance="i1", error=ILLEGAL_GENERATION)
    s.synced("c1", 3, instance="i1", protocol="sticky", error=INCONSISTENT)
    s.synced("c1", 3, instance="i1", protocol_type="connect", error=INCONSISTENT)
    s.synced("m1", 2, error=UNKNOWN)
    s.synced("c1", 3, instance="i1", version=4)
    s.synced("c1", 3, instance="i1")


@consumer_story()
def syncing_while_a_new_target_is_there(s: ConsumerScript) -> None:
    """testClassicGroupSyncToConsumerGroupRebalanceInProgress: it is to join again."""
    s.cluster("orders:4")
    s.enter("m1")
    s.classic("c1")
    s.enter("m2")
    s.synced("c1", error=REBALANCE)
    s.classic("c1")
    s.synced("c1")


@consumer_story(group_consumer_assignment_interval_ms=5_000)
def syncing_before_a_new_target_is_there(s: ConsumerScript) -> None:
    """testClassicGroupSyncToConsumerGroupDuringAssignmentDelay, testClassicGroupHeartbeatToConsumerGroupDuringAssignmentDelay."""
    s.cluster("orders:4")
    s.enter("m1")
    s.at(6_000)
    s.classic("c1")
    s.at(7_000)
    s.enter("m2", tells=3)
    s.synced("c1", gets="")
    s.heartbeat("c1", "#c1")
    s.at(11_000)
    s.ack("m2", tells=4)
    s.heartbeat("c1", "#c1", error=REBALANCE)
    s.synced("c1", error=REBALANCE)


@consumer_story()
def heartbeats_to_a_consumer_group_are_refused(s: ConsumerScript) -> None:
    """testClassicGroupHeartbeatToConsumerWithUnknownMember, ...FencedInstanceId, ...IllegalGenerationId, ...MemberNotUsingClassicProtocol."""
    s.cluster("orders:4")
    s.enter("m1")
    s.classic("c1", chosen_id=False, instance="i1")
    s.heartbeat("c9", 3, error=UNKNOWN)
    s.heartbeat("c9", 3, instance="i1", error=FENCED)
    s.heartbeat("c1", 3, instance="i9", error=UNKNOWN)
    s.heartbeat("c1", 2, instance="i1", error=ILLEGAL_GENERATION)
    s.heartbeat("c1", 4, instance="i1", error=ILLEGAL_GENERATION)
    s.heartbeat("m1", 2, error=UNKNOWN)
    s.heartbeat("c1", 3, instance="i1")
    for version in range(5):
        s.heartbeat("c1", 3, version=version)


@consumer_story()
def the_heartbeat_of_a_classic_member_by_the_new_api(s: ConsumerScript) -> None:
    """A classic member that sends ConsumerGroupHeartbeat is a classic member no more."""
    s.cluster("orders:4")
    s.enter("m1")
    s.classic("c1")
    s.synced("c1")
    s.beat("c1", epoch=3, owns="")
    s.heartbeat("c1", 3, error=UNKNOWN)
    s.enter("c1", tells=3)
    s.describe_consumers()


@consumer_story()
def a_consumer_member_joins_as_a_classic_one(s: ConsumerScript) -> None:
    """The same id, the other protocol."""
    s.cluster("orders:4")
    s.enter("m1")
    s.enter("m2")
    s.settle("m1", "m2")
    s.classic("m2", owned="orders:23")
    s.synced("m2", gets="orders:23")
    s.beat("m2", epoch=3)
    s.describe_consumers()


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
    s.synced("c1", gets="orders:23")
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
        gives="-current:c1 -target:c1 -member:c1 -current:c2 -target:c2 -member:c2"
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
    s.leave("c9", "@i9", "c9@i1", error=(0, 25, 25, 82), gives="")
    s.leave("c9", version=2, error=25, gives="")
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
    s.leave("@i1", gives="-current:m1 -target:m1 -member:m1 +epoch=5")
    s.leave("m2", "m3", version=5, reason="maintenance")
    s.beat("m2", epoch=3, error=25)
    s.describe_consumers(state="Empty", epoch=6)


@consumer_story()
def administrators_take_out_members_with_expressions(s: ConsumerScript) -> None:
    """testResolvedRegularExpressionsRemovedWhenConsumerMembersRemovedByAdminApi."""
    s.cluster("orders:2")
    s.enter("m1", None, regex="or.*", instance="i1")
    s.ack("m1")
    s.enter("m2", None, regex="or.*")
    s.leave("@i1", gives="-current:m1 -target:m1 -member:m1 +epoch=4")
    s.leave("m2", gives="-current:m2 -target:m2 -member:m2 -regex:or.* +epoch=5")


@consumer_story()
def a_classic_leave_takes_topics_out_of_the_hash(s: ConsumerScript) -> None:
    """testConsumerGroupMemberUsingClassicProtocolBatchLeaveGroupUpdatingSubscriptionMetadata."""
    s.cluster("orders:2", "audit:2")
    s.enter("m1", "orders")
    s.classic("c1", "audit")
    s.leave("c1", gives="-current:c1 -target:c1 -member:c1 +epoch=4")
    s.ack("m1", tells=4)


@consumer_story()
def a_classic_member_changes_its_subscription(s: ConsumerScript) -> None:
    """testJoiningConsumerGroupWithNewDynamicMember: a join is a heartbeat that says everything."""
    s.cluster("orders:4", "audit:2")
    s.enter("m1", "orders")
    s.classic("c1", "orders")
    s.synced("c1")
    s.settle("m1")
    s.classic("c1", "audit", owned="")
    s.synced("c1", gets="audit:01")
    s.settle("m1")
    s.describe_consumers(state="Stable", holds={"m1": "orders:0123", "c1": "audit:01"})


@consumer_story()
def a_member_with_an_expression_becomes_classic(s: ConsumerScript) -> None:
    """testConsumerMemberWithRegexReplacedByClassicMemberWithSameSubscription, ...WithChangedSubscription."""
    s.cluster("orders:2", "audit:2")
    s.enter("m1", None, regex="or.*", instance="i1")
    s.ack("m1", tells=2)
    s.enter("m2", "orders")
    s.settle("m1", "m2")
    s.pause("m1")
    s.classic("c1", "orders", chosen_id=False, instance="i1")
    s.describe_consumers()
    s.classic("c2", "audit", chosen_id=False, instance="i1")
    s.synced("c2", instance="i1")
    s.describe_consumers()
