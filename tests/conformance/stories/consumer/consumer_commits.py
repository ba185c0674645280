"""Commits to consumer groups: by member epoch, by topic id, by classic members, by administrators, in transactions."""

from __future__ import annotations

from tests.conformance.language.consumer_script import ConsumerScript
from tests.conformance.language.story import consumer_story

ILLEGAL_GENERATION, UNKNOWN, UNSUPPORTED, NO_GROUP, UNKNOWN_ID, STALE = 22, 25, 35, 69, 100, 113
COMMITTED = "+offset:orders-0"


@consumer_story()
def a_member_commits(s: ConsumerScript) -> None:
    """testConsumerGroupOffsetCommit, testConsumerGroupOffsetCommitResolvesTopicId: version 9 by name, 10 by id."""
    s.cluster("orders:2")
    s.enter("m1", epoch=2)
    s.commit("orders-0=1", version=9, member="m1", generation=2, also=COMMITTED)
    s.commit("orders-0=2", version=10, member="m1", generation=2, also=COMMITTED)
    s.commit("orders-0=3", "orders-1=4", version=9, member="m1", generation="#m1", leader_epoch=7)
    s.fetch("orders-0", "orders-1", version=10, member="m1", sent_epoch=2)
    s.look()


@consumer_story()
def members_need_version_9_to_commit(s: ConsumerScript) -> None:
    """testValidateOffsetCommit: the versions before know no member epochs."""
    s.cluster("orders:2")
    s.enter("m1", epoch=2)
    for version in (2, 5, 8):
        s.commit(
            "orders-0=1", version=version, member="m1", generation=2, error=UNSUPPORTED, also=""
        )
    s.commit("orders-0=1", version=8, member="m1", generation=3, error=UNSUPPORTED)
    s.commit("orders-0=1", version=8, member="m9", generation=2, error=UNKNOWN)


@consumer_story()
def a_commit_of_another_epoch(s: ConsumerScript) -> None:
    """testConsumerGroupOffsetCommitWithStaleMemberEpoch: larger is stale; smaller where it is not held since then."""
    s.cluster("orders:4")
    s.gather("m1", "m2")
    s.describe_consumers(holds={"m1": "orders:01", "m2": "orders:23"})
    s.commit("orders-0=1", version=9, member="m1", generation=4, error=STALE)
    s.commit("orders-0=1", version=9, member="m1", generation=2, also=COMMITTED)
    s.commit("orders-2=1", version=9, member="m1", generation=2, error=STALE)
    s.commit("orders-0=1", version=9, member="m1", generation=1, error=STALE)
    s.commit("orders-0=1", version=9, member="m1", generation=0, error=STALE)


@consumer_story()
def epochs_of_partitions(s: ConsumerScript) -> None:
    """testValidateOffsetCommitWithEpochValidation (KIP-1251): each partition is held since an epoch of its own."""
    s.cluster("orders:2")
    s.enter("m1", epoch=2)
    s.cluster("orders:3")
    s.ack("m1", epoch=3)
    s.cluster("orders:4")
    s.ack("m1", epoch=4)
    for partition, since in ((0, 2), (1, 2), (2, 3), (3, 4)):
        s.commit(f"orders-{partition}=1", version=10, member="m1", generation=since)
        s.commit(
            f"orders-{partition}=1", version=10, member="m1", generation=since - 1, error=STALE
        )
    s.commit("orders-0=5", "orders-3=5", version=9, member="m1", generation=2, error=STALE, also="")
    s.commit("orders-0=5", "orders-3=5", version=9, member="m1", generation=4)


@consumer_story()
def commits_of_what_is_to_be_given_back(s: ConsumerScript) -> None:
    """testValidateOffsetCommitWithEpochValidation: pending revocation counts, as that is when one commits."""
    s.cluster("orders:4")
    s.enter("m1", epoch=2)
    s.enter("m2", epoch=3)
    s.beat("m1", owns="orders:0123", assigned="orders:01")
    s.commit("orders-3=1", version=9, member="m1", generation=2, also="+offset:orders-3")
    s.beat("m1", owns="orders:01", epoch=3)
    s.commit("orders-3=2", version=9, member="m1", generation=2, error=STALE)
    s.commit("orders-3=2", version=9, member="m1", generation=3, also="+offset:orders-3")
    s.commit("orders-0=2", version=9, member="m1", generation=2, also=COMMITTED)


@consumer_story()
def commits_of_partitions_that_are_not_held(s: ConsumerScript) -> None:
    """testValidateOffsetCommitWithUnassignedTopicOrPartition: with the right epoch anything goes."""
    s.cluster("orders:2", "audit:2")
    s.enter("m1", epoch=2)
    s.enter("m2", epoch=3)
    s.ack("m1")
    s.ack("m1", epoch=3)
    s.commit("audit-0=1", version=9, member="m1", generation=2, error=STALE)
    s.commit("audit-0=1", version=10, member="m1", generation=2, error=STALE)
    s.commit("audit-0=1", version=9, member="m1", generation=3, also="+offset:audit-0")
    s.commit("nothing-0=1", version=9, member="m1", generation=3, error=3)
    s.commit("nothing-0=1", version=10, member="m1", generation=3, error=UNKNOWN_ID)


@consumer_story()
def commits_of_who_is_no_member(s: ConsumerScript) -> None:
    """testConsumerGroupOffsetCommitWithUnknownMemberId."""
    s.cluster("orders:2")
    s.enter("m1", epoch=2)
    s.commit("orders-0=1", version=9, member="m2", generation=2, error=UNKNOWN)
    s.commit("orders-0=1", version=9, member="", generation=2, error=UNKNOWN)
    s.commit("orders-0=1", version=9, member="m1", generation=-1, error=STALE)
    s.commit("orders-0=1", version=9, generation=-1, error=UNKNOWN)
    s.commit("orders-0=1", version=9, member="m1", generation=2, instance="other", also=COMMITTED)


@consumer_story()
def administrators_commit_to_an_empty_group(s: ConsumerScript) -> None:
    """testConsumerGroupOffsetCommitFromAdminClient: epoch -1, and nobody there."""
    s.cluster("orders:2")
    s.enter("m1", epoch=2)
    s.commit("orders-0=1", error=UNKNOWN)
    s.quit("m1")
    s.commit("orders-0=1", also=COMMITTED)
    s.commit("orders-0=1", version=2, retention=5_000, also=COMMITTED)
    s.commit("orders-0=1", version=9, member="m1", generation=-1, also=COMMITTED)
    s.commit("orders-0=1", version=9, member="m1", generation=-2, also=COMMITTED)
    s.commit("orders-0=1", version=9, member="m1", generation=2, error=UNKNOWN)
    s.look()


@consumer_story()
def commits_to_no_group_with_an_epoch(s: ConsumerScript) -> None:
    """testOffsetCommitWithUnknownGroup: 69 from version 9 on, 22 before."""
    s.commit("orders-0=1", version=9, member="m1", generation=2, error=NO_GROUP)
    s.commit("orders-0=1", version=10, member="m1", generation=2, error=UNKNOWN_ID)
    s.cluster("orders:2")
    s.commit("orders-0=1", version=10, member="m1", generation=2, error=NO_GROUP)
    s.commit("orders-0=1", version=8, member="m1", generation=2, error=ILLEGAL_GENERATION)
    s.look()


@consumer_story()
def metadata_of_members_has_a_limit(s: ConsumerScript) -> None:
    """testConsumerGroupOffsetCommitWithOffsetMetadataTooLarge: before the epoch of the partition is looked at."""
    s.cluster("orders:4")
    s.gather("m1", "m2")
    long = "x" * 4_097
    s.commit("orders-0=1", version=9, member="m1", generation=3, metadata=long, error=12)
    s.commit("orders-3=1", version=9, member="m1", generation=2, metadata=long, error=12)
    s.commit("orders-3=1", version=9, member="m1", generation=9, metadata=long, error=STALE)
    s.commit("orders-0=1", version=9, member="m1", generation=3, metadata=long[1:])


@consumer_story()
def a_static_member_that_is_away_commits(s: ConsumerScript) -> None:
    """Its epoch is -2: any other is too large or was never."""
    s.cluster("orders:2")
    s.enter("m1", instance="i1", epoch=2)
    s.pause("m1")
    s.commit("orders-0=1", version=9, member="m1", generation=2, error=STALE)
    s.commit("orders-0=1", version=9, member="m1", generation=-2, also=COMMITTED)
    s.commit("orders-0=1", version=9, member="m1", generation=-1, error=STALE)
    s.enter("n1", instance="i1", epoch=2)
    s.commit("orders-0=1", version=9, member="m1", generation=2, error=UNKNOWN)
    s.commit("orders-0=1", version=9, member="n1", generation=2, also=COMMITTED)


@consumer_story()
def classic_members_commit_to_a_consumer_group(s: ConsumerScript) -> None:
    """testValidateOffsetCommitWithClassicProtocolMember: any version; errors are those of generations."""
    s.cluster("orders:4")
    s.enter("m1")
    s.classic("c1")
    s.settle("m1")
    s.synced("c1")
    s.commit("orders-0=1", version=8, member="c1", generation=3, also=COMMITTED)
    s.commit("orders-0=1", version=10, member="c1", generation=3, also=COMMITTED)
    s.commit("orders-0=1", version=8, member="c1", generation=4, error=ILLEGAL_GENERATION)
    s.commit("orders-0=1", version=9, member="c1", generation=2, error=ILLEGAL_GENERATION)
    s.commit("orders-0=1", version=8, member="m1", generation=3, error=UNSUPPORTED)


@consumer_story()
def a_member_commits_in_a_transaction(s: ConsumerScript) -> None:
    """testConsumerGroupTransactionalOffsetCommit: before version 6 STALE is ILLEGAL_GENERATION there."""
    s.cluster("orders:2")
    s.enter("m1", epoch=2)
    s.txn_commit("orders-0=1", member="m1", generation=2)
    s.txn_commit("orders-0=2", member="m1", generation=3, error=ILLEGAL_GENERATION)
    s.txn_commit("orders-0=2", member="m1", generation=1, error=ILLEGAL_GENERATION)
    s.txn_commit("orders-0=2", member="m1", generation=-1, error=ILLEGAL_GENERATION)
    s.txn_commit("orders-0=2", member="m2", generation=2, error=UNKNOWN)
    s.txn_commit("orders-0=2", generation=-2, error=UNKNOWN)
    s.txn_commit("orders-0=2", instance="i1", error=UNKNOWN)
    s.txn_commit("orders-1=2", version=0)
    s.fetch("orders-0", version=9, member="m1", sent_epoch=2, stable=True, error=(0, 88))
    s.end_txn()
    s.fetch("orders-0", "orders-1", version=9, member="m1", sent_epoch=2, stable=True)
    s.look()


@consumer_story()
def transactions_know_member_epochs_from_version_6_on(s: ConsumerScript) -> None:
    """KIP-1319: what was ILLEGAL_GENERATION is STALE_MEMBER_EPOCH, as outside transactions."""
    s.cluster("orders:2")
    s.enter("m1", epoch=2)
    s.txn_commit("orders-0=1", version=6, member="m1", generation=2, also=COMMITTED)
    s.txn_commit("orders-0=2", version=6, member="m1", generation=3, error=STALE, also="")
    s.txn_commit("orders-0=2", version=5, member="m1", generation=3, error=ILLEGAL_GENERATION)
    s.txn_commit("orders-0=2", version=6, member="m1", generation=1, error=STALE, also="")
    s.txn_commit("orders-0=2", version=5, member="m1", generation=1, error=ILLEGAL_GENERATION)
    s.txn_commit("orders-0=2", version=6, member="m1", generation=-1, error=STALE)
    s.txn_commit("orders-0=2", version=6, member="m2", generation=2, error=UNKNOWN)
    s.txn_commit("nothing-0=2", version=6, member="m1", generation=3, error=UNKNOWN_ID)
    s.txn_commit("orders-1=2", version=6, also="+offset:orders-1")
    s.end_txn()
    s.fetch("orders-0", "orders-1", version=10, member="m1", sent_epoch=2, stable=True)


@consumer_story()
def classic_members_of_a_consumer_group_commit_in_transactions(s: ConsumerScript) -> None:
    """Their generations are illegal, not stale, in version 6 too."""
    s.cluster("orders:4")
    s.enter("m1")
    s.classic("c1")
    s.settle("m1")
    s.synced("c1")
    s.txn_commit("orders-0=1", version=6, member="c1", generation=3, also=COMMITTED)
    s.txn_commit("orders-0=1", version=6, member="c1", generation=4, error=ILLEGAL_GENERATION)
    s.txn_commit("orders-0=1", version=6, member="c1", generation=2, error=ILLEGAL_GENERATION)
    s.txn_commit("orders-0=1", version=6, member="m1", generation=4, error=STALE)


@consumer_story()
def a_transaction_with_an_epoch_from_before(s: ConsumerScript) -> None:
    """testConsumerGroupTransactionalOffsetCommitWithStaleMemberEpoch, ...ResolvesTopicId."""
    s.cluster("orders:2", "audit:1")
    s.enter("m1", epoch=2)
    s.cluster("orders:3", "audit:1")
    s.ack("m1", epoch=3)
    s.txn_commit("orders-0=1", member="m1", generation=2)
    s.txn_commit("orders-2=1", member="m1", generation=2, error=ILLEGAL_GENERATION)
    s.txn_commit("audit-0=1", member="m1", generation=2, error=ILLEGAL_GENERATION)
    s.txn_commit("orders-1=1", version=6, member="m1", generation=2, also="+offset:orders-1")
    s.txn_commit("orders-2=1", version=6, member="m1", generation=2, error=STALE, also="")
    s.txn_commit("orders-0=2", "orders-2=1", version=6, member="m1", generation=2, error=STALE)
    s.txn_commit("audit-0=1", version=6, member="m1", generation=2, error=STALE)
    s.end_txn(commit=False)
    s.fetch(version=9)


@consumer_story()
def commits_where_no_topics_are_known(s: ConsumerScript) -> None:
    """testConsumerGroupOffsetCommitWithZeroTopicId: the right epoch is enough."""
    s.enter("m1", epoch=2, assigned="")
    s.commit("orders-0=1", version=9, member="m1", generation=2)
    s.fetch("orders-0", version=9, member="m1", sent_epoch=2)
    s.fetch(version=9)


@consumer_story()
def transactions_where_no_topics_are_known(s: ConsumerScript) -> None:
    """...WithUnresolvedTopicId: an epoch from before refuses an offset; where its metadata is too long there is none."""
    s.enter("m1", epoch=2, assigned="")
    s.txn_commit("orders-0=1", member="m1", generation=2, also=COMMITTED)
    s.txn_commit("orders-0=1", member="m1", generation=1, error=ILLEGAL_GENERATION)
    s.txn_commit("orders-0=1", member="m1", generation=1, metadata="x" * 4_097, error=12)


@consumer_story()
def a_commit_by_the_old_id_of_a_topic(s: ConsumerScript) -> None:
    """A topic that was made again: its old id is unknown, its new one not held before."""
    s.cluster("orders:2")
    s.enter("m1", epoch=2)
    s.commit("orders-0=1", version=10, member="m1", generation=2)
    s.cluster("orders#2:2", also="-offset:orders-0")
    s.commit("orders-0=2", version=10, member="m1", generation=2, error=UNKNOWN_ID)
    s.commit("orders#2-0=2", version=10, member="m1", generation=2)
    s.beat("m1", owns="")
    s.beat("m1", owns="", epoch=3)
    s.commit("orders#2-0=3", version=10, member="m1", generation=2, error=STALE)
    s.fetch(version=10, member="m1", sent_epoch=3)
