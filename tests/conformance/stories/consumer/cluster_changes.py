"""Topics that come, grow, go and are made again under members of consumer groups; racks; the hash of it all."""

from __future__ import annotations

from tests.conformance.language.consumer_script import UNCHANGED, ConsumerScript
from tests.conformance.language.story import consumer_story


@consumer_story()
def a_topic_grows(s: ConsumerScript) -> None:
    """testOnMetadataUpdate: the next heartbeat of anybody sees it; the epoch is bumped once."""
    s.cluster("orders:2")
    s.gather("m1", "m2")
    s.cluster("orders:4", also="")
    s.beat("m2", epoch=4)
    s.beat("m1", epoch=4)
    s.beat("m2", also="")
    s.describe_consumers(state="Stable", epoch=4, target_epoch=4)


@consumer_story()
def a_topic_goes(s: ConsumerScript) -> None:
    """testRemoveTopicCleanupTopicHash: it leaves the target and must be given back."""
    s.cluster("orders:2", "audit:2")
    s.enter("m1", "orders audit", epoch=2, assigned="orders:01 audit:01")
    s.cluster("orders:2")
    s.beat("m1", owns="orders:01 audit:01", epoch=2, assigned="orders:01")
    s.beat("m1", owns="orders:01 audit:01", epoch=2, assigned=UNCHANGED, also="")
    s.beat("m1", owns="orders:01", epoch=3, assigned=UNCHANGED)
    s.describe_consumers(state="Stable", epoch=3, holds={"m1": "orders:01"})


@consumer_story()
def a_topic_is_made_again(s: ConsumerScript) -> None:
    """KIP-848: another id, another topic: the old partitions are revoked, the new ones assigned."""
    s.cluster("orders:2")
    s.enter("m1", epoch=2, assigned="orders:01")
    s.cluster("orders#2:2")
    s.beat("m1", owns="orders:01", epoch=2, assigned="")
    s.beat("m1", owns="", epoch=3, assigned="orders#2:01")
    s.describe_consumers(state="Stable", epoch=3)


@consumer_story()
def a_topic_is_made_again_with_fewer_partitions(s: ConsumerScript) -> None:
    """Two members: one is left with nothing."""
    s.cluster("orders:2")
    s.gather("m1", "m2")
    s.cluster("orders#2:1")
    s.beat("m1", owns="")
    s.beat("m2", owns="")
    s.settle("m1", "m2")
    s.describe_consumers(state="Stable", epoch=4)


@consumer_story()
def the_only_topic_goes(s: ConsumerScript) -> None:
    """A hash of nothing is 0."""
    s.cluster("orders:2")
    s.enter("m1", epoch=2)
    s.cluster()
    s.beat("m1", owns="", epoch=3, assigned="", also="+epoch=3 +target:m1 +targets=3 +current:m1")
    s.describe_consumers(state="Stable", epoch=3, holds={"m1": ""})
    s.cluster("orders:2")
    s.ack("m1", epoch=4, assigned="orders:01")


@consumer_story()
def a_topic_that_goes_is_described_no_more(s: ConsumerScript) -> None:
    """testAsConsumerGroupDescribeWithTopicNameNotFound: partitions without a name are left out."""
    s.cluster("orders:2", "audit:2")
    s.enter("m1", "orders audit")
    s.cluster("audit:2")
    s.describe_consumers(holds={"m1": "audit:01"}, targets={"m1": "audit:01"})
    s.cluster("orders#2:2", "audit:2")
    s.describe_consumers(holds={"m1": "audit:01"})


@consumer_story()
def topics_that_nobody_reads_do_not_matter(s: ConsumerScript) -> None:
    """testOnMetadataUpdateWithEmptyDelta: the hash is about subscribed topics."""
    s.cluster("orders:2")
    s.enter("m1", epoch=2)
    s.cluster("orders:2", "audit:5")
    s.ack("m1", epoch=2, also="")
    s.cluster("orders:2")
    s.ack("m1", epoch=2, also="")
    s.cluster("orders:2")
    s.ack("m1", epoch=2, also="")


@consumer_story()
def a_topic_changes_and_changes_back(s: ConsumerScript) -> None:
    """Only what is there when somebody looks counts."""
    s.cluster("orders:2", "audit:1")
    s.enter("m1", "orders audit", epoch=2)
    s.cluster("orders:2")
    s.cluster("orders:2", "audit:1")
    s.ack("m1", epoch=2, also="")


@consumer_story()
def a_topic_changes_while_the_group_is_empty(s: ConsumerScript) -> None:
    """testSubscriptionMetadataRefreshedAfterGroupIsLoaded: the next member finds the new one."""
    s.cluster("orders:2")
    s.enter("m1", epoch=2)
    s.quit("m1", also="-current:m1 -target:m1 -member:m1 +epoch=3 +targets=3")
    s.cluster("orders:4")
    s.enter("m2", epoch=4, assigned="orders:0123")


@consumer_story(group_consumer_assignment_interval_ms=5_000)
def a_topic_grows_during_the_assignment_interval(s: ConsumerScript) -> None:
    """testConsumerGroupAssignmentInterval: the epoch is bumped at once, the target follows."""
    s.cluster("orders:2")
    s.enter("m1", epoch=2)
    s.at(2_000)
    s.cluster("orders:3")
    s.ack("m1", epoch=2, also="+epoch=3")
    s.cluster("orders:4")
    s.ack("m1", epoch=2, also="+epoch=4")
    s.at(6_000)
    s.ack("m1", epoch=4, assigned="orders:0123")


@consumer_story()
def topics_of_two_groups(s: ConsumerScript) -> None:
    """testGroupIdsByTopics, testSubscribedTopicsChangeMap: each group is told of its own."""
    other = s.other("h")
    s.cluster("orders:2", "audit:2")
    s.enter("m1", "orders", epoch=2)
    other.enter("m1", "audit", epoch=2)
    s.cluster("orders:3", "audit:2")
    s.beat("m1", epoch=3, assigned="orders:012")
    other.beat("m1", sent_epoch=2, epoch=2, also="")
    s.cluster("orders:3", "audit:3")
    s.beat("m1", sent_epoch=3, epoch=3, also="")
    other.beat("m1", sent_epoch=2, epoch=3, assigned="audit:012")


@consumer_story()
def the_same_topics_give_the_same_hash(s: ConsumerScript) -> None:
    """testComputeMetadataHash, testComputeGroupHashWithDifferentOrder: whatever the order of wishes."""
    s.cluster("b:2", "a:1", "c:3")
    s.enter("m1", "c a b")
    other = s.other("h")
    other.enter("m1", "a")
    other.enter("m2", "b")
    other.enter("m3", "b c")
    other.describe_consumers(epoch=4)


@consumer_story()
def a_topic_that_is_not_there_does_not_count_in_the_hash(s: ConsumerScript) -> None:
    """testComputeMetadataHashIgnoreTopicHashIfItIsNotInMetadataImage."""
    s.cluster("a:1")
    s.enter("m1", "a")
    other = s.other("h")
    other.enter("m1", "a nothing")
    third = s.other("i")
    third.enter("m1", "nothing")


@consumer_story()
def who_leaves_takes_topics_out_of_the_hash(s: ConsumerScript) -> None:
    """testTopicHashIsRemoveFromCacheIfNoGroupSubscribesIt: record 3 of the leave has the new hash."""
    s.cluster("a:1", "b:2")
    s.enter("m1", "a")
    s.enter("m2", "b")
    s.settle("m1", "m2")
    s.quit("m2", also="-current:m2 -target:m2 -member:m2 +epoch=4")
    s.cluster("a:1", "b:3")
    s.ack("m1", epoch=4)
    s.describe_consumers(state="Stable", epoch=4)


@consumer_story()
def racks_are_part_of_the_hash(s: ConsumerScript) -> None:
    """testNewRacksDataInMetadataImageTriggersEpochBump."""
    s.cluster("orders:2")
    s.enter("m1", epoch=2)
    s.cluster("orders:2@r1,r2|r1")
    s.ack("m1", epoch=3)
    s.cluster("orders:2@r2,r1|r1")
    s.ack("m1", epoch=3)
    s.cluster("orders:2@r1,r2|r3")
    s.ack("m1", epoch=4)


@consumer_story()
def members_in_racks(s: ConsumerScript) -> None:
    """Racks are in the records and in the hash; neither assignor of 4.3 looks at them."""
    s.cluster("orders:4@r1|r2|r1|r2", "audit:2@r1|r2")
    s.enter("m1", "orders audit", rack="r1")
    s.enter("m2", "orders audit", rack="r2")
    s.settle("m1", "m2")
    s.describe_consumers(state="Stable")
    other = s.other("h")
    other.enter("n1", "orders audit", rack="r1", assignor="range")
    other.enter("n2", "orders audit", rack="r2", assignor="range")
    other.settle("n1", "n2")
    other.describe_consumers(state="Stable")


@consumer_story()
def a_topic_goes_while_its_partitions_wait_for_revocation(s: ConsumerScript) -> None:
    """What is gone still has to be given back."""
    s.cluster("orders:2", "audit:2")
    s.enter("m1", "orders audit")
    s.enter("m2", "orders audit")
    s.beat("m1", epoch=2)
    s.cluster("orders:2")
    s.beat("m2", epoch=4)
    s.ack("m1")
    s.ack("m1")
    s.settle("m1", "m2")
    s.describe_consumers(state="Stable", epoch=4)


@consumer_story()
def many_topics_at_once(s: ConsumerScript) -> None:
    """Topics come and go in one look at the cluster."""
    s.cluster("a:2", "b:2")
    s.enter("m1", "a b c", epoch=2)
    s.enter("m2", "b c d", epoch=3)
    s.settle("m1", "m2")
    s.cluster("b:4", "c:2", "d:3")
    s.settle("m1", "m2", rounds=5)
    s.describe_consumers(state="Stable", epoch=4)
