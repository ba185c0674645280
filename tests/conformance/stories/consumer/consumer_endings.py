"""How consumer groups lose offsets and end: OffsetDelete, DeleteGroups, expiration, deleted topics."""

from __future__ import annotations

from tests.conformance.language.consumer_script import ConsumerScript
from tests.conformance.language.story import consumer_story

NON_EMPTY, NO_GROUP, SUBSCRIBED, STALE = 68, 69, 86, 113
A_MINUTE = {"offsets_retention_ms": 60_000, "offsets_retention_check_interval_ms": 1_000}
SETTLED = "-targets -epoch"


@consumer_story()
def offsets_of_read_topics_are_not_deleted(s: ConsumerScript) -> None:
    """testConsumerGroupOffsetDelete, testConsumerGroupOffsetDeleteWithErrors, testIsSubscribedToTopic."""
    s.cluster("orders:2", "audit:2")
    s.enter("m1", "orders", epoch=2)
    s.commit("orders-0=1", "audit-0=1", version=9, member="m1", generation=2)
    s.delete_offsets("orders-0", "audit-0", error=(0, SUBSCRIBED, 0), also="-offset:audit-0")
    s.delete_offsets("audit-1", "audit-7", "nothing-0", error=(0, 0, 3, 3), also="")
    s.quit("m1")
    s.delete_offsets("orders-0", also="-offset:orders-0")
    s.look()


@consumer_story()
def offsets_of_topics_that_match_are_not_deleted(s: ConsumerScript) -> None:
    """testIsSubscribedToTopic: what an expression resolved to is read."""
    s.cluster("orders:2", "audit:2")
    s.enter("m1", None, regex="or.*")
    s.ack("m1", epoch=2)
    s.commit("orders-0=1", "audit-0=1", version=9, member="m1", generation=2)
    s.delete_offsets("orders-0", "audit-0", error=(0, SUBSCRIBED, 0), also="-offset:audit-0")
    s.beat("m1", regex="au.*")
    s.delete_offsets("orders-0", also="-offset:orders-0")


@consumer_story()
def offsets_of_classic_members_topics_are_not_deleted(s: ConsumerScript) -> None:
    """testConsumerGroupOffsetDeleteWithErrors: of whichever protocol."""
    s.cluster("orders:2", "audit:2")
    s.enter("m1", "orders")
    s.classic("c1", "audit")
    s.commit("orders-0=1", "audit-0=1", version=9, member="m1", generation=2)
    s.delete_offsets("orders-0", "audit-0", error=(0, SUBSCRIBED, SUBSCRIBED), also="")


@consumer_story()
def offsets_deleted_during_a_transaction(s: ConsumerScript) -> None:
    """testConsumerGroupOffsetDeleteWithPendingTransactionalOffsets."""
    s.cluster("orders:2")
    s.enter("m1", epoch=2)
    s.txn_commit("orders-0=1", member="m1", generation=2)
    s.quit("m1")
    s.delete_offsets("orders-0", also="-offset:orders-0")
    s.end_txn()
    s.fetch(version=9)


@consumer_story()
def only_empty_consumer_groups_are_deleted(s: ConsumerScript) -> None:
    """testConsumerGroupDelete, testConsumerGroupMaybeDelete, testDeleteGroupsWithNewConsumerGroupProtocol."""
    s.cluster("orders:2")
    s.enter("m1", epoch=2)
    s.commit("orders-0=1", version=9, member="m1", generation=2)
    s.delete(error=NON_EMPTY, also="")
    s.quit("m1")
    for version in (0, 1):
        s.other("h").delete(version=version, error=NO_GROUP)
    s.delete(also=f"-offset:orders-0 -metadata {SETTLED}")
    s.look()
    s.delete(error=NO_GROUP)


@consumer_story()
def a_group_with_one_that_is_away_is_not_deleted(s: ConsumerScript) -> None:
    """A static member that is away is a member."""
    s.cluster("orders:2")
    s.enter("m1", instance="i1")
    s.pause("m1")
    s.delete(error=NON_EMPTY)
    s.at(46_000, "-current:m1 -target:m1 -member:m1 +epoch=3 +targets=3")
    s.delete(also=f"-metadata {SETTLED}")


@consumer_story()
def a_group_that_never_had_a_target_is_deleted(s: ConsumerScript) -> None:
    """testCreateGroupTombstoneRecords: the same tombstones, whatever there was."""
    s.enter("m1", "")
    s.quit("m1")
    s.describe_consumers(state="Empty", epoch=2, target_epoch=2)
    s.delete()
    s.look()


@consumer_story()
def a_deleted_name_is_free_for_both_kinds(s: ConsumerScript) -> None:
    """A new group begins anew: epoch 2, generation 1."""
    s.cluster("orders:2")
    s.enter("m1", epoch=2)
    s.quit("m1")
    s.delete()
    s.enter("m1", epoch=2)
    s.quit("m1")
    s.delete()
    s.commit("orders-0=1", also="+offset:orders-0")
    s.look()


@consumer_story(**A_MINUTE)
def offsets_of_a_consumer_group_expire_by_their_commit(s: ConsumerScript) -> None:
    """testOffsetExpirationCondition: also of a live group, if nobody reads the topic."""
    s.cluster("orders:2", "audit:2")
    s.enter("m1", "orders", epoch=2)
    s.commit("orders-0=1", "audit-0=1", version=9, member="m1", generation=2)
    s.jump(30_000)
    s.commit("audit-1=1", version=9, member="m1", generation=2)
    s.ack("m1")
    s.at(60_999)
    s.at(61_000, "-offset:audit-0")
    s.ack("m1")
    s.at(89_999)
    s.at(90_000, "-offset:audit-1")
    s.look()


@consumer_story(**A_MINUTE)
def an_empty_consumer_group_expires_by_its_commits(s: ConsumerScript) -> None:
    """testCleanupGroupMetadataForConsumerGroup: not by when it became empty, as classic ones do."""
    s.cluster("orders:2")
    s.enter("m1", epoch=2)
    s.commit("orders-0=1", version=9, member="m1", generation=2)
    s.jump(20_000)
    s.commit("orders-1=1", version=9, member="m1", generation=2)
    s.ack("m1")
    s.jump(40_000)
    s.quit("m1")
    s.at(60_999)
    s.at(61_000, "-offset:orders-0")
    s.at(79_999)
    s.at(80_000, f"-offset:orders-1 -metadata {SETTLED}")
    s.look()


@consumer_story(**A_MINUTE)
def an_empty_consumer_group_without_offsets_goes_at_the_next_sweep(s: ConsumerScript) -> None:
    """testCleanupExpiredOffsetsGroupHasNoOffsets."""
    s.cluster("orders:2")
    s.enter("m1", epoch=2)
    s.at(10_500)
    s.quit("m1")
    s.at(10_999)
    s.at(11_000, f"-metadata {SETTLED}")
    s.look()
    s.enter("m1", epoch=2)


@consumer_story(**A_MINUTE)
def a_live_consumer_group_without_offsets_stays(s: ConsumerScript) -> None:
    """testCleanupExpiredOffsetsEmptyOffsetExpirationCondition."""
    s.cluster("orders:2")
    s.enter("m1", epoch=2)
    s.at(40_000)
    s.ack("m1")
    s.at(80_000)
    s.ack("m1", also="")


@consumer_story(**A_MINUTE)
def topics_that_match_keep_their_offsets(s: ConsumerScript) -> None:
    """testOffsetExpirationCondition: subscribed by expression is subscribed."""
    s.cluster("orders:2", "audit:1")
    s.enter("m1", None, regex="or.*")
    s.ack("m1", epoch=2)
    s.commit("orders-0=1", "audit-0=1", version=9, member="m1", generation=2)
    s.at(40_000)
    s.ack("m1")
    s.at(60_999)
    s.at(61_000, "-offset:audit-0")
    s.beat("m1", regex="au.*")
    s.at(62_000, "-offset:orders-0")


@consumer_story(**A_MINUTE)
def what_is_read_no_more_expires(s: ConsumerScript) -> None:
    """A subscription that ends takes its protection along."""
    s.cluster("orders:2", "audit:1")
    s.enter("m1", "orders audit", epoch=2)
    s.commit("orders-0=1", "audit-0=1", version=9, member="m1", generation=2)
    s.jump(40_000)
    s.ack("m1")
    s.jump(70_000)
    s.beat(
        "m1",
        topics="orders",
        owns="orders:01",
        also="+member:m1 +epoch=3 +target:m1 +targets=3 +current:m1",
    )
    s.at(71_000, "-offset:audit-0")


@consumer_story(**A_MINUTE)
def retention_in_a_commit_to_an_empty_consumer_group(s: ConsumerScript) -> None:
    """KIP-211: the time in the request, of versions 2 to 4."""
    s.cluster("orders:2")
    s.enter("m1", epoch=2)
    s.quit("m1")
    s.commit("orders-0=1", version=4, retention=5_000)
    s.commit("orders-1=1", version=8)
    s.at(5_999)
    s.at(6_000, "-offset:orders-0")
    s.at(61_000, f"-offset:orders-1 -metadata {SETTLED}")


@consumer_story(**A_MINUTE)
def a_transaction_keeps_an_empty_consumer_group(s: ConsumerScript) -> None:
    """testCleanupExpiredOffsetsWithPendingTransactionalOffsets."""
    s.cluster("orders:2")
    s.enter("m1", epoch=2)
    s.txn_commit("orders-0=1", member="m1", generation=2)
    s.quit("m1")
    s.at(100_000)
    s.end_txn(commit=False)
    s.at(101_000, f"-metadata {SETTLED}")


@consumer_story(**A_MINUTE)
def a_session_ends_and_the_group_with_it(s: ConsumerScript) -> None:
    """Fenced by its session, then swept away: both at their own time."""
    s.cluster("orders:2")
    s.enter("m1", epoch=2)
    s.at(45_999)
    s.at(46_000, f"-current:m1 -target:m1 -member:m1 +epoch=3 +targets=3 -metadata {SETTLED}")
    s.look()


@consumer_story()
def offsets_of_a_consumer_group_go_with_their_topic(s: ConsumerScript) -> None:
    """testOnTopicsDeletedWithMatchingTopicId, testCommittedOffsetsDeletedWhenTopicDeleted."""
    s.cluster("orders:2", "audit:1")
    s.enter("m1", "orders audit", epoch=2)
    s.commit("orders-0=1", "orders-1=1", "audit-0=1", version=10, member="m1", generation=2)
    s.cluster("audit:1", also="-offset:orders-0 -offset:orders-1")
    s.beat("m1", owns="audit:0", epoch=3)
    s.fetch(version=9, member="m1", sent_epoch=3)


@consumer_story()
def the_last_two_sessions_end_together(s: ConsumerScript) -> None:
    """Each removal has its epoch; only behind the last one nothing is due."""
    s.cluster("orders:4")
    s.enter("m1")
    s.enter("m2")
    gone = " ".join(f"-{kind}:m{n}" for n in "12" for kind in ("current", "target", "member"))
    s.at(46_000, f"{gone} +epoch=4 +epoch=5 +targets=5")
    s.describe_consumers(state="Empty", epoch=5, target_epoch=5)
