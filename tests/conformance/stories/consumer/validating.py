"""What ConsumerGroupHeartbeat refuses before any group is looked at, and in which order; then what the group refuses."""

from __future__ import annotations

from tests.conformance.language.consumer_script import ConsumerScript
from tests.conformance.language.story import consumer_story

INVALID_REQUEST, UNSUPPORTED_ASSIGNOR, NO_GROUP, NO_MEMBER = 42, 112, 69, 25


@consumer_story()
def a_first_heartbeat_says_all(s: ConsumerScript) -> None:
    """testConsumerHeartbeatRequestValidation: rebalance timeout, owned partitions and a subscription belong to epoch 0."""
    s.cluster("orders:2")
    s.enter("m1", rebalance=None, error=INVALID_REQUEST, also="")
    s.enter("m1", rebalance=-1, error=INVALID_REQUEST, also="")
    s.enter("m1", owns=None, error=INVALID_REQUEST, also="")
    s.enter("m1", owns="orders:0", error=INVALID_REQUEST, also="")
    s.enter("m1", None, error=INVALID_REQUEST, also="")
    s.look()
    s.enter("m1", epoch=2, assigned="orders:01")


@consumer_story()
def a_member_id_is_needed(s: ConsumerScript) -> None:
    """testConsumerGroupHeartbeatFailureIfMemberIdMissingForVersionsAbove0."""
    s.cluster("orders:2")
    s.enter("m1", member="", error=INVALID_REQUEST)
    s.enter("m2", member="  ", error=INVALID_REQUEST)
    s.beat("m3", member="", sent_epoch=1, version=0, error=INVALID_REQUEST)
    s.beat("m4", member="", sent_epoch=-1, version=0, error=INVALID_REQUEST)
    s.look()


@consumer_story()
def ids_are_given_in_the_first_version(s: ConsumerScript) -> None:
    """testMemberIdGeneration, testMemberIdGeneratedOnServerWhenApiVersionIs0."""
    s.cluster("orders:2")
    s.enter("m1", member="", version=0, epoch=2, assigned="orders:01")
    s.ack("m1", version=0, also="")
    s.ack("m1", version=1, also="")
    s.enter("m2", version=0, epoch=3, assigned="")
    s.describe_consumers(version=0, state="Reconciling", epoch=3)


@consumer_story()
def a_static_member_without_an_id_gets_one_in_the_first_version(s: ConsumerScript) -> None:
    """KIP-848: the id is made before the instance is looked at."""
    s.cluster("orders:2")
    s.enter("m1", member="", version=0, instance="i1", epoch=2, assigned="orders:01")
    s.enter("m2", member="", version=0, instance="i1", error=111)
    s.pause("m1", version=0, epoch=-2)
    s.enter("m3", member="", version=0, instance="i1", epoch=2, assigned="orders:01")


@consumer_story()
def a_group_needs_a_name(s: ConsumerScript) -> None:
    """testEmptyConsumerGroupId: "" and blanks."""
    s.other("").enter("m1", error=INVALID_REQUEST)
    s.other("   ").enter("m1", error=INVALID_REQUEST)
    s.other("").describe_consumers(error=24)


@consumer_story()
def names_may_not_be_empty(s: ConsumerScript) -> None:
    """testConsumerHeartbeatRequestValidation: instance and rack are left out or have a name."""
    s.beat(
        "m1", sent_epoch=0, topics="orders", owns="", rebalance=1, rack="", error=INVALID_REQUEST
    )
    body = {
        "groupId": "g",
        "memberId": "m1",
        "memberEpoch": 0,
        "instanceId": "",
        "rebalanceTimeoutMs": 1,
        "subscribedTopicNames": ["orders"],
        "topicPartitions": [],
    }
    s.send("ConsumerGroupHeartbeat", 1, body, INVALID_REQUEST)
    s.send("ConsumerGroupHeartbeat", 1, body | {"instanceId": " "}, INVALID_REQUEST)
    s.send("ConsumerGroupHeartbeat", 1, body | {"instanceId": None, "rackId": " "}, INVALID_REQUEST)
    s.look()


@consumer_story()
def a_leave_for_a_while_needs_an_instance(s: ConsumerScript) -> None:
    """testConsumerHeartbeatRequestValidation: -2 is for static members, and nothing is below it."""
    s.cluster("orders:2")
    s.enter("m1")
    s.pause("m1", error=INVALID_REQUEST, also="")
    s.beat("m1", sent_epoch=-3, error=INVALID_REQUEST, also="")
    s.beat("m1", sent_epoch=-2_147_483_648, error=INVALID_REQUEST)
    s.ack("m1", also="")


@consumer_story()
def an_assignor_must_be_known(s: ConsumerScript) -> None:
    """testConsumerHeartbeatRequestValidation: 112, also for a member of long standing, also when it leaves."""
    s.cluster("orders:2")
    s.enter("m1", assignor="bad", error=UNSUPPORTED_ASSIGNOR)
    s.enter("m1", assignor="", error=UNSUPPORTED_ASSIGNOR)
    s.enter("m1", assignor="Range", error=UNSUPPORTED_ASSIGNOR)
    s.enter("m1", assignor="range", epoch=2)
    s.beat("m1", assignor="bad", error=UNSUPPORTED_ASSIGNOR, also="")
    s.quit("m1", assignor="bad", error=UNSUPPORTED_ASSIGNOR, also="")


@consumer_story(group_consumer_assignors="range")
def only_configured_assignors_are_known(s: ConsumerScript) -> None:
    """testConsumerGroupAssignors: the first is what a group without a wish gets."""
    s.cluster("orders:2")
    s.enter("m1", assignor="uniform", error=UNSUPPORTED_ASSIGNOR)
    s.enter("m1", assignor="range", epoch=2)
    s.describe_consumers(state="Stable")


@consumer_story()
def the_order_of_the_checks(s: ConsumerScript) -> None:
    """testConsumerHeartbeatRequestValidation: each request is wrong in one way less than the one before."""
    group, nobody = s.other(" "), {"member": "", "error": INVALID_REQUEST}
    group.beat("m1", sent_epoch=0, assignor="bad", **nobody)
    group.beat("m1", sent_epoch=0, assignor="bad", error=INVALID_REQUEST)
    s.beat("m1", sent_epoch=0, assignor="bad", error=INVALID_REQUEST)
    s.enter("m1", rebalance=None, owns="orders:0", assignor="bad", error=INVALID_REQUEST)
    s.enter("m1", owns="orders:0", assignor="bad", error=INVALID_REQUEST)
    s.enter("m1", None, assignor="bad", error=INVALID_REQUEST)
    s.enter("m1", assignor="bad", error=UNSUPPORTED_ASSIGNOR)
    s.beat("m1", sent_epoch=-2, assignor="bad", error=INVALID_REQUEST)
    s.beat("m1", sent_epoch=-3, assignor="bad", error=INVALID_REQUEST)
    s.beat("m1", sent_epoch=1, assignor="bad", error=UNSUPPORTED_ASSIGNOR)
    s.beat("m1", sent_epoch=1, error=NO_GROUP)
    s.look()


@consumer_story()
def a_heartbeat_to_no_group(s: ConsumerScript) -> None:
    """testUnknownGroupId: only epoch 0 makes a group."""
    s.beat("m1", sent_epoch=1, error=NO_GROUP, also="")
    s.quit("m1", error=NO_GROUP, also="")
    s.pause("m1", instance="i1", error=NO_GROUP, also="")
    s.look()
    s.describe_consumers(error=NO_GROUP)


@consumer_story()
def a_member_that_nobody_knows(s: ConsumerScript) -> None:
    """testUnknownMemberIdJoinsConsumerGroup: an id of one's own is welcome with epoch 0 only."""
    s.cluster("orders:2")
    s.enter("m1")
    s.beat("m2", sent_epoch=2, error=NO_MEMBER, also="")
    s.quit("m2", error=NO_MEMBER, also="")
    s.enter("m2", sent_epoch=2, error=NO_MEMBER, also="")
    s.enter("m2", epoch=3)


@consumer_story()
def a_new_group_is_made_only_by_a_request_that_succeeds(s: ConsumerScript) -> None:
    """A request that is refused within leaves nothing behind."""
    s.cluster("orders:2")
    s.beat("m1", sent_epoch=0, owns="", rebalance=1, regex="[", error=128, also="")
    s.look()
    s.enter("m1", "", epoch=1, assigned="")
    s.describe_consumers(state="Stable", epoch=1)


@consumer_story()
def wishes_of_no_length(s: ConsumerScript) -> None:
    """testConsumerGroupHeartbeatWithEmptySubscription: an empty list and an empty expression are wishes too."""
    s.cluster("orders:2")
    s.enter("m1", "", epoch=1, assigned="", also="+member:m1 +current:m1")
    s.beat("m2", sent_epoch=0, owns="", rebalance=1, regex="", assigned="")
    s.beat("m2", topics="orders")
    s.describe_consumers()


@consumer_story()
def a_rebalance_timeout_of_nothing(s: ConsumerScript) -> None:
    """Any timeout but -1 will do; the broker asks for no bounds."""
    s.cluster("orders:2")
    s.enter("m1", rebalance=0, epoch=2)
    s.enter("m2", rebalance=-5)
    s.describe_consumers()


@consumer_story()
def a_describe_of_another_kind_of_group(s: ConsumerScript) -> None:
    """testConsumerGroupDescribeWithErrors: a classic group is no consumer group."""
    s.commit("orders-0=1")
    s.describe_consumers(error=NO_GROUP)
    s.other("h").describe_consumers(error=NO_GROUP)


@consumer_story()
def all_versions_of_the_heartbeat(s: ConsumerScript) -> None:
    """KIP-848: 0 and 1, and none above."""
    s.cluster("orders:2")
    s.enter("m1", version=0, epoch=2)
    s.ack("m1", version=1)
    s.beat("m1", version=2, error=35)
    s.describe_consumers(version=0, state="Stable")
    s.describe_consumers(version=1, state="Stable")
    s.describe_consumers(version=2, error=35)


@consumer_story()
def an_expression_in_the_first_version(s: ConsumerScript) -> None:
    """The first version has no regular expressions: without names it has no subscription."""
    s.cluster("orders:2")
    s.enter("m1", "orders", version=0, epoch=2)
    s.beat("m1", version=0, topics="", epoch=2, assigned="")
    s.beat("m1", version=0, owns="", epoch=3)
