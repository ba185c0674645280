"""What JoinGroup, SyncGroup and Heartbeat are refused in a consumer group."""

from __future__ import annotations

from tests.conformance.language.consumer_script import ConsumerScript
from tests.conformance.language.story import consumer_story

ILLEGAL_GENERATION, INCONSISTENT, UNKNOWN, REBALANCE, FENCED = 22, 23, 25, 27, 82


@consumer_story()
def wrong_instances_of_classic_members(s: ConsumerScript) -> None:
    """testStaticMemberJoiningConsumerGroupWithUnknownInstanceId, testStaticMemberJoiningConsumerGroupWithUnmatchedMemberId."""
    s.cluster("orders:4")
    s.enter("m1")
    s.classic("c1", chosen_id=False, instance="i1")
    s.classic("c2", instance="i2", error=UNKNOWN, also="")
    s.classic("c3", instance="i1", error=FENCED, also="")
    s.classic("c1", instance="i1")


@consumer_story()
def classic_members_need_a_common_protocol(s: ConsumerScript) -> None:
    """testJoiningConsumerGroupThrowsExceptionIfProtocolIsNotSupported, testClassicMembersSupportedProtocols."""
    s.cluster("orders:4")
    s.enter("m1")
    s.classic("c1", protocols="range sticky")
    s.classic("c2", protocols="roundrobin", error=INCONSISTENT, also="")
    s.classic("c2", protocol_type="connect", error=INCONSISTENT, also="")
    s.classic("c2", protocols="", error=INCONSISTENT, also="")
    s.classic("c2", protocols="sticky")
    s.classic("c3", protocols="range", error=INCONSISTENT)
    s.classic("c2", protocols="range", error=INCONSISTENT)
    s.classic("c3", protocols="sticky roundrobin")
    s.synced("c3", protocol="roundrobin", error=INCONSISTENT)
    s.synced("c3", protocol="range", error=INCONSISTENT)
    s.synced("c3", protocol="sticky")


@consumer_story()
def subscriptions_that_nobody_can_read(s: ConsumerScript) -> None:
    """testClassicGroupJoinToConsumerGroupFailsOnMalformedSubscriptionMetadata: a consumer group must know what a member wishes."""
    s.cluster("orders:4")
    s.enter("m1", instance="i1")
    unreadable = (
        b"",
        b"\x00",
        b"\0\1\xff\xff\xff\xff",  # no list of topics
        b"\0\1\0\0\0\5",  # five topics
        b"\0\1\0\0\0\1\0\5a",  # a name of five letters
    )
    for metadata in unreadable:
        s.join("c1", member="c1", protocols={"range": metadata}, error=INCONSISTENT, also="")
    s.pause("m1")
    s.join("c2", member="", instance="i1", protocols={"range": b""}, error=INCONSISTENT, also="")
    s.look()


@consumer_story(group_consumer_migration_policy="disabled")
def no_classic_member_where_migration_is_disabled(s: ConsumerScript) -> None:
    """testClassicMemberJoinToConsumerGroupWithDisabledMigrationPolicy: neither a newcomer nor a copy."""
    s.cluster("orders:4")
    s.enter("m1", instance="i1")
    s.classic("c1", error=INCONSISTENT, also="")
    s.classic("c1", chosen_id=False, instance="i2", error=INCONSISTENT, also="")
    s.pause("m1")
    s.classic("c1", chosen_id=False, instance="i1", error=INCONSISTENT, also="")
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
    s.enter("m2", epoch=3)
    s.synced("c1", assigned="")
    s.heartbeat("c1", "#c1")
    s.at(11_000)
    s.ack("m2", epoch=4)
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
