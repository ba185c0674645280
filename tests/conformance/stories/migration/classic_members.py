"""Classic members in a consumer group: JoinGroup, SyncGroup and Heartbeat answered out of epochs and targets."""

from __future__ import annotations

from tests.conformance.language.consumer_script import ConsumerScript
from tests.conformance.language.lines import PARKED
from tests.conformance.language.story import consumer_story

ILLEGAL_GENERATION, INCONSISTENT, UNKNOWN, REBALANCE, NEEDS_ID, FENCED = 22, 23, 25, 27, 79, 82
FULL = 81


@consumer_story()
def a_classic_member_joins_a_consumer_group(s: ConsumerScript) -> None:
    """testJoiningConsumerGroupWithNewDynamicMember: answered at once, its generation is its epoch."""
    s.cluster("orders:4")
    s.enter("m1", epoch=2)
    s.classic("c1", also="+member:c1 +epoch=3 +target:c1 +target:m1 +targets=3 +current:c1")
    s.describe_consumers(state="Reconciling", epoch=3)
    s.synced("c1", assigned="")
    s.heartbeat("c1", "#c1")
    s.ack("m1", assigned="orders:01")
    s.heartbeat("c1", "#c1")
    s.ack("m1", epoch=3)
    s.heartbeat("c1", "#c1", error=REBALANCE)
    s.classic("c1", owned="")
    s.synced("c1", assigned="orders:23")
    s.heartbeat("c1", "#c1")
    s.describe_consumers(state="Stable", epoch=3, holds={"c1": "orders:23"})


@consumer_story()
def a_classic_member_is_given_an_id_first(s: ConsumerScript) -> None:
    """testJoiningConsumerGroupWithNewDynamicMember: 79 from version 4 on, and nothing is remembered."""
    s.cluster("orders:4")
    s.enter("m1", epoch=2)
    s.classic("c1", chosen_id=False, version=4, error=NEEDS_ID, also="")
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
    s.synced("c1", assigned="orders:23")
    s.enter("m2", epoch=4, assigned="")
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
    s.synced("c1", assigned="orders:23")
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
    s.beat("m1", sent_epoch=3, error=FENCED)
    s.synced("c1", instance="i1", assigned="orders:01")
    s.describe_consumers(epoch=3, state="Stable")
    s.heartbeat("c1", "#c1", instance="i1")


@consumer_story()
def a_static_classic_one_is_replaced_by_a_consumer(s: ConsumerScript) -> None:
    """testConsumerGroupHeartbeatFromExistingClassicStaticMember: the way there needs no -2 either."""
    s.cluster("orders:4")
    s.enter("m1")
    s.classic("c1", chosen_id=False, instance="i1")
    s.settle("m1")
    s.enter("m2", instance="i1", epoch=3)
    s.settle("m1", "m2")
    s.heartbeat("c1", 3, instance="i1", error=FENCED)
    s.describe_consumers(epoch=3, state="Stable")


@consumer_story()
def the_heartbeat_of_a_classic_member_by_the_new_api(s: ConsumerScript) -> None:
    """A classic member that sends ConsumerGroupHeartbeat is a classic member no more."""
    s.cluster("orders:4")
    s.enter("m1")
    s.classic("c1")
    s.synced("c1")
    s.beat("c1", sent_epoch=3, owns="")
    s.heartbeat("c1", 3, error=UNKNOWN)
    s.enter("c1", epoch=3)
    s.describe_consumers()


@consumer_story()
def a_consumer_member_joins_as_a_classic_one(s: ConsumerScript) -> None:
    """The same id, the other protocol."""
    s.cluster("orders:4")
    s.enter("m1")
    s.enter("m2")
    s.settle("m1", "m2")
    s.classic("m2", owned="orders:23")
    s.synced("m2", assigned="orders:23")
    s.beat("m2", sent_epoch=3)
    s.describe_consumers()


@consumer_story()
def a_classic_member_changes_its_subscription(s: ConsumerScript) -> None:
    """testJoiningConsumerGroupWithNewDynamicMember: a join is a heartbeat that says everything."""
    s.cluster("orders:4", "audit:2")
    s.enter("m1", "orders")
    s.classic("c1", "orders")
    s.synced("c1")
    s.settle("m1")
    s.classic("c1", "audit", owned="")
    s.synced("c1", assigned="audit:01")
    s.settle("m1")
    s.describe_consumers(state="Stable", holds={"m1": "orders:0123", "c1": "audit:01"})


@consumer_story()
def a_member_with_an_expression_becomes_classic(s: ConsumerScript) -> None:
    """testConsumerMemberWithRegexReplacedByClassicMemberWithSameSubscription, ...WithChangedSubscription."""
    s.cluster("orders:2", "audit:2")
    s.enter("m1", None, regex="or.*", instance="i1")
    s.ack("m1", epoch=2)
    s.enter("m2", "orders")
    s.settle("m1", "m2")
    s.pause("m1")
    s.classic("c1", "orders", chosen_id=False, instance="i1")
    s.describe_consumers()
    s.classic("c2", "audit", chosen_id=False, instance="i1")
    s.synced("c2", instance="i1")
    s.describe_consumers()


@consumer_story()
def a_protocol_named_twice_is_that_of_two_members(s: ConsumerScript) -> None:
    """ConsumerGroup counts the entries of all lists, and compares with the number of classic members."""
    s.cluster("orders:4")
    s.enter("m1", epoch=2)
    s.classic("c1", protocols="range range sticky")
    s.classic("c2", protocols="range", error=23, also="")
    s.classic("c3", protocols="sticky range")
    s.classic("c4", protocols="range", error=23, also="")
    s.classic("c5", protocols="sticky sticky")
    s.classic("c6", protocols="sticky", error=23, also="")
    s.classic("c1", protocols="range")
    s.classic("c6", protocols="sticky range", error=0)
    s.describe_consumers()


@consumer_story()
def a_rebalance_timeout_below_zero_is_kept(s: ConsumerScript) -> None:
    """Only -1 is none, which leaves the one that is known; the log has any other as it came."""
    s.cluster("orders:4")
    s.enter("m1", epoch=2)
    s.classic("c1", rebalance=-2)
    s.look()
    s.classic("c1", rebalance=-1)
    s.look()
    s.classic("c1", rebalance=0)
    s.classic("c1", rebalance=-2_147_483_648)
    s.classic("c2", rebalance=-1)
    s.look()


@consumer_story()
def an_empty_instance_id_is_one(s: ConsumerScript) -> None:
    """Only null is none. Kafka's own clients do not name an empty one, but JoinGroup takes it."""
    s.cluster("orders:4")
    s.enter("m1", epoch=2)
    s.classic("c1", chosen_id=False, instance="", also="+member:c1 +epoch=3 +target:c1 +target:m1 +targets=3 +current:c1")  # fmt: skip
    s.heartbeat("c1", "#c1", instance="")
    s.classic("c2", chosen_id=False, instance="")
    s.heartbeat("c1", 3, instance="", error=FENCED)
    s.leave("@", also="-current:c2 -target:c2 -member:c2 +epoch=4")
    s.describe_consumers(epoch=4)


@consumer_story(group_consumer_max_size=2)
def who_has_no_instance_id_takes_no_place(s: ConsumerScript) -> None:
    """A newcomer without an instance id is not the member with the empty one: it needs room and a target of its own."""
    s.classic("c1", chosen_id=False, instance="", error=PARKED)
    s.at(4_000, "JoinGroup=0")
    s.enter("m1", epoch=2, assigned="", also="-group +member:c1 +epoch=1 +target:c1 +targets=1 +current:c1 +member:m1 +epoch=2 +target:m1 +targets=2 +current:m1")  # fmt: skip
    s.enter("m2", error=FULL, also="")
