from __future__ import annotations

from tests.conformance.language.lines import PARKED
from tests.conformance.language.script import Script
from tests.conformance.language.story import story

SHORT = {"offsets_retention_ms": 60_000, "offsets_retention_check_interval_ms": 1_000}


@story()
def a_commit_in_a_transaction_counts_when_it_is_committed(s: Script) -> None:
    """KIP-98: until the marker nobody sees the offset; requireStable says that one is on its way (KIP-447)."""
    s.txn_commit("orders-0=1", "orders-1=2")
    s.look()
    s.fetch("orders-0")
    s.fetch("orders-0", stable=True, error=(0, 88))
    s.fetch(stable=True)
    s.end_txn(also="commit")
    s.fetch("orders-0", "orders-1", stable=True)
    s.look()


@story()
def an_aborted_transaction_leaves_what_was_there(s: Script) -> None:
    s.commit("orders-0=1")
    s.txn_commit("orders-0=7", "orders-1=7")
    s.end_txn(commit=False, also="abort")
    s.fetch("orders-0", "orders-1", stable=True)
    s.look()


@story()
def the_newer_of_two_commits_stays(s: Script) -> None:
    """A plain commit behind the transactional one was written later."""
    s.txn_commit("orders-0=1", "orders-1=1")
    s.commit("orders-0=2")
    s.fetch("orders-0", stable=True, error=(0, 88))
    s.end_txn()
    s.fetch("orders-0", "orders-1", stable=True)


@story()
def a_commit_before_the_transactional_one_is_replaced(s: Script) -> None:
    s.commit("orders-0=2")
    s.txn_commit("orders-0=1")
    s.fetch(stable=True, error=(0, 88))
    s.end_txn()
    s.fetch(stable=True)


@story()
def two_producers_end_in_the_order_of_their_commits(s: Script) -> None:
    s.txn_commit("orders-0=1", producer=1)
    s.txn_commit("orders-0=2", producer=2)
    s.end_txn(producer=1)
    s.fetch("orders-0")
    s.fetch("orders-0", stable=True, error=(0, 88))
    s.end_txn(producer=2)
    s.fetch("orders-0", stable=True)


@story()
def two_producers_end_in_the_other_order(s: Script) -> None:
    """The later record stays, whichever transaction ends last."""
    s.txn_commit("orders-0=1", producer=1)
    s.txn_commit("orders-0=2", producer=2)
    s.end_txn(producer=2)
    s.end_txn(producer=1)
    s.fetch("orders-0", stable=True)


@story()
def a_producer_that_commits_twice_means_the_last(s: Script) -> None:
    s.txn_commit("orders-0=1", producer=1)
    s.txn_commit("orders-0=2", producer=2)
    s.txn_commit("orders-0=3", producer=1)
    s.end_txn(producer=1)
    s.end_txn(producer=2)
    s.fetch("orders-0", stable=True)


@story()
def a_plain_commit_between_two_transactional_ones(s: Script) -> None:
    s.txn_commit("orders-0=1", producer=1)
    s.commit("orders-0=5")
    s.txn_commit("orders-0=2", producer=2)
    s.end_txn(producer=1)
    s.fetch("orders-0")
    s.end_txn(producer=2)
    s.fetch("orders-0", stable=True)


@story()
def a_marker_of_an_unknown_producer_changes_nothing(s: Script) -> None:
    s.end_txn(producer=99, also="commit")
    s.look()
    s.commit("orders-0=1")
    s.end_txn(producer=99, commit=False, also="abort")
    s.look()


@story(**SHORT)
def an_open_transaction_keeps_the_group(s: Script) -> None:
    """KIP-211's sweep leaves a partition with a pending offset alone, and the group with it."""
    s.txn_commit("orders-0=1")
    s.at(600_000)
    s.end_txn(commit=False)
    s.at(601_000, "-group")


@story(**SHORT)
def an_open_transaction_keeps_its_partition(s: Script) -> None:
    s.commit("orders-0=1", "orders-1=1")
    s.txn_commit("orders-0=2")
    s.at(60_000, "-offset:orders-1")
    s.at(120_000)
    s.end_txn()
    s.look()
    s.at(121_000, "-offset:orders-0 -group")


@story(**SHORT)
def a_committed_transaction_ages_from_its_commit(s: Script) -> None:
    """Its offset has the time of the TxnOffsetCommit, not of the marker."""
    s.at(500)
    s.txn_commit("orders-0=1")
    s.at(30_000)
    s.end_txn()
    s.at(60_000)
    s.at(61_000, "-offset:orders-0 -group")


@story(**SHORT)
def deleting_an_offset_deletes_what_waits_for_it(s: Script) -> None:
    """OffsetMetadataManager: a tombstone clears the pending offsets of all producers."""
    s.txn_commit("orders-0=1", producer=1)
    s.txn_commit("orders-0=2", "orders-1=2", producer=2)
    s.delete_offsets("orders-0", "orders-2", also="-offset:orders-0")
    s.fetch("orders-0", "orders-1", stable=True, error=(0, 0, 88))
    s.end_txn(producer=1)
    s.end_txn(producer=2)
    s.fetch("orders-0", "orders-1", stable=True)


@story(**SHORT)
def a_group_whose_pending_offsets_were_deleted_goes(s: Script) -> None:
    s.txn_commit("orders-0=1")
    s.delete_offsets("orders-0", also="-offset:orders-0")
    s.at(1_000, "-group")
    s.end_txn(also="commit")
    s.look()


@story()
def deleting_a_group_deletes_what_waits(s: Script) -> None:
    """One tombstone a partition, whether its offset is committed, pending or both."""
    s.commit("orders-0=1")
    s.txn_commit("orders-0=2", "orders-1=2", producer=1)
    s.txn_commit("orders-1=3", "orders-2=3", producer=2)
    s.delete(also="-offset:orders-0 -offset:orders-1 -offset:orders-2 -group")
    s.end_txn(producer=1)
    s.end_txn(producer=2)
    s.look()


@story()
def a_group_starts_again_under_an_open_transaction(s: Script) -> None:
    s.txn_commit("orders-0=1")
    s.delete(also="-offset:orders-0 -group")
    s.txn_commit("orders-1=2")
    s.end_txn()
    s.fetch("orders-0", "orders-1", stable=True)


@story()
def a_deleted_topic_takes_what_waits_for_it(s: Script) -> None:
    s.cluster("orders:2", "clicks:1")
    s.txn_commit("orders-0=1", "clicks-0=1")
    s.cluster("clicks:1", also="-offset:orders-0")
    s.end_txn()
    s.fetch("clicks-0", stable=True)
    s.look()


@story()
def a_deleted_topic_takes_every_offset_of_its_partitions(s: Script) -> None:
    """Kafka leaves a tombstone for what is committed, and one more for what waits for each producer."""
    s.cluster("orders:2")
    s.commit("orders-0=1", "orders-1=1")
    s.txn_commit("orders-0=2", producer=1)
    s.txn_commit("orders-0=3", producer=2)
    tombstones = "-offset:orders-0 -offset:orders-0 -offset:orders-0 -offset:orders-1"
    s.cluster("orders#2:2", also=tombstones)
    s.end_txn(producer=1)
    s.look()


@story()
def a_topic_that_does_not_exist(s: Script) -> None:
    s.cluster("orders:2")
    s.txn_commit("orders-0=1", "orders-2=1", "clicks-0=1", error=(0, 3, 3), also="+offset:orders-0")
    s.txn_commit("clicks-0=1", error=3, also="")
    s.end_txn()
    s.look()


@story()
def all_versions_say_the_same(s: Script) -> None:
    for version in range(6):
        s.txn_commit(f"orders-{version}=1", version=version)
    s.end_txn()
    s.look()


@story()
def commits_in_transactions_by_topic_id(s: Script) -> None:
    """KIP-1319's v6: topics go by id, an unknown one gives UNKNOWN_TOPIC_ID; their partitions must exist."""
    s.cluster("orders:2", "audit:1")
    s.txn_commit("orders-0=1", "audit-0=2", version=6, also="+offset:orders-0 +offset:audit-0")
    s.txn_commit("nope-0=1", version=6, error=100, also="")
    s.txn_commit("orders-1=1", "nope-0=1", version=6, error=(0, 100), also="+offset:orders-1")
    s.txn_commit("orders-1=2", "orders-2=2", version=6, error=(0, 3), also="+offset:orders-1")
    s.txn_commit("orders-1=3", version=6, member="m1", generation=1, error=25)
    s.end_txn()
    s.fetch("orders-0", "orders-1", "audit-0", version=10)
    s.other("").txn_commit("orders-0=1", version=6, error=24, also="")
    s.other("").txn_commit("nope-0=1", version=6, error=100, also="")


@story()
def all_versions_store_the_id_of_the_topic(s: Script) -> None:
    """The name in the old ones is looked up; a topic that was made again has lost what was committed to it."""
    s.cluster("orders:7", "audit:1")
    for version in range(7):
        s.txn_commit(f"orders-{version}=1", "audit-0=1", version=version)
    s.end_txn()
    s.fetch(version=10)
    s.cluster(
        "orders#2:7",
        also="-offset:audit-0 " + " ".join(f"-offset:orders-{index}" for index in range(7)),
    )
    s.txn_commit("orders-0=2", version=6, error=100)
    s.txn_commit("orders#2-0=2", version=6)
    s.end_txn()
    s.fetch(version=10)


@story()
def ids_of_topics_are_unknown_where_no_topics_are(s: Script) -> None:
    s.txn_commit("orders-0=1", version=6, error=100, also="")
    s.txn_commit("orders-0=1", version=5)
    s.look()


@story()
def metadata_may_be_too_long(s: Script) -> None:
    s.txn_commit("orders-0=1", metadata="x" * 4_097, error=12, also="")
    s.txn_commit("orders-0=1", metadata=None, also="+offset:orders-0")
    s.end_txn()
    s.fetch("orders-0")


@story()
def an_unknown_group_with_a_generation(s: Script) -> None:
    """KIP-1319: ILLEGAL_GENERATION in the versions before 6, GROUP_ID_NOT_FOUND since."""
    s.txn_commit("orders-0=1", generation=3, error=22, also="")
    s.cluster("orders:1")
    s.txn_commit("orders-0=1", generation=0, version=5, error=22, also="")
    s.txn_commit("orders-0=1", generation=0, version=6, error=69, also="")
    s.txn_commit("orders-0=1", generation=3, member="m1", version=6, error=69, also="")
    s.look()
    s.txn_commit("orders-0=1", generation=-1, version=6, also="+offset:orders-0")


@story()
def a_group_without_a_name(s: Script) -> None:
    s.other("").txn_commit("orders-0=1", error=24, also="")


@story()
def members_commit_in_any_state(s: Script) -> None:
    """Unlike outside transactions, also while the group completes a rebalance."""
    s.join("m1", error=79)
    s.join("m1", error=PARKED)
    s.at(3_000, "JoinGroup=0")
    s.txn_commit("orders-0=1", member="m1", generation=1)
    s.txn_commit("orders-1=1", member="m1", generation=2, error=22)
    s.txn_commit("orders-1=1", member="nobody", generation=1, error=25)
    s.txn_commit("orders-1=1", member="m1", generation=-1, error=22)
    s.txn_commit("orders-2=1")
    s.end_txn()
    s.look()


@story()
def generations_of_classic_groups_stay_generations(s: Script) -> None:
    """Version 6 knows member epochs, which a classic group does not have."""
    s.cluster("orders:3")
    s.form("m1")
    s.txn_commit("orders-0=1", version=6, member="m1", generation=1)
    s.txn_commit("orders-1=1", version=6, member="m1", generation=2, error=22)
    s.txn_commit("orders-1=1", version=6, member="m1", generation=-1, error=22)
    s.txn_commit("orders-1=1", version=6, member="nobody", generation=1, error=25)
    s.txn_commit("orders-2=1", version=6)
    s.end_txn()


@story()
def a_static_member_commits(s: Script) -> None:
    s.join("m1", instance="i1", error=PARKED)
    s.at(3_000, "JoinGroup=0")
    s.txn_commit("orders-0=1", member="m1", generation=1, instance="i1")
    s.txn_commit("orders-0=1", member="other", generation=1, instance="i1", error=82)
    s.txn_commit("orders-0=1", member="m1", generation=1, instance="i2", error=25)
    s.end_txn()


@story()
def an_empty_group_takes_a_commit_without_member(s: Script) -> None:
    s.form("m1")
    s.leave("m1")
    s.txn_commit("orders-0=1", member="whoever")
    s.txn_commit("orders-0=1", member="whoever", generation=1, error=25)
    s.end_txn()
    s.look()


@story()
def a_commit_in_a_transaction_is_no_sign_of_life(s: Script) -> None:
    """Only OffsetCommit re-arms the session."""
    s.form("m1")
    s.at(10_000)
    s.txn_commit("orders-0=1", member="m1", generation=1)
    s.at(12_999)
    s.at(13_000, "+group")
    s.end_txn()


@story()
def a_producer_without_epoch_cannot_write(s: Script) -> None:
    """Kafka's batch of records refuses it, once the request is found right; a group is not made either."""
    s.cluster("orders:2")
    s.txn_commit("orders-0=1", producer_epoch=-1, generation=3, error=22, also="")
    s.txn_commit("orders-0=1", "orders-2=1", producer_epoch=-1, error=(-1, 3), also="")
    s.look()
    s.commit("orders-0=1")
    s.txn_commit("orders-0=2", "orders-1=2", producer_epoch=-1, error=-1, also="")
    s.txn_commit("orders-0=2", producer_epoch=-1, metadata="x" * 4_097, error=12, also="")
    s.end_txn()
    s.fetch("orders-0", "orders-1", stable=True)


@story()
def any_other_epoch_of_a_producer_is_written(s: Script) -> None:
    s.txn_commit("orders-0=1", producer_epoch=-2)
    s.txn_commit("orders-0=2", producer_epoch=32_767)
    s.end_txn()
    s.fetch("orders-0", stable=True)


@story()
def without_a_producer_there_is_no_transaction(s: Script) -> None:
    """A broker asks the transaction coordinator first, and never gets here; the coordinator takes a plain commit."""
    s.txn_commit("orders-0=1", producer=1)
    s.txn_commit("orders-0=2", "orders-1=2", producer=-1)
    s.fetch("orders-1", stable=True)
    s.txn_commit("orders-1=3", producer=-1, producer_epoch=-1)
    s.end_txn(producer=1)
    s.fetch("orders-0", "orders-1", stable=True)
    s.look()
