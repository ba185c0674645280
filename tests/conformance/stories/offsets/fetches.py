"""OffsetFetch: what is answered about offsets that are there, and that are not."""

from __future__ import annotations

from tests.conformance.language.lines import PARKED
from tests.conformance.language.script import Script
from tests.conformance.language.story import story


@story()
def fetches_of_all_versions(s: Script) -> None:
    """What an OffsetFetch answer holds, version by version: there, not there, another topic."""
    s.commit("orders-0=5", version=6, leader_epoch=3, metadata="read it")
    s.commit("orders-1=6", metadata=None)
    for version in range(1, 10):
        s.fetch("orders-0", "orders-1", "orders-9", "nope-0", version=version)
    for version in range(2, 10):
        s.fetch(version=version)
    s.send("OffsetFetch", 11, {"groupId": "g"}, error=35)


@story()
def fetches_from_an_unknown_group(s: Script) -> None:
    """testFetchOffsetsWithUnknownGroup: no error, offset -1; all of nothing is nothing."""
    for version in (1, 5, 7, 8, 9):
        s.fetch("orders-0", "orders-1", version=version)
    for version in (2, 7, 8, 9):
        s.fetch(version=version)
    s.look()


@story()
def a_fetch_of_nothing(s: Script) -> None:
    """An empty list of topics is not the same as all topics."""
    s.commit("orders-0=5")
    s.send("OffsetFetch", 5, {"groupId": "g", "topics": []})
    s.send("OffsetFetch", 8, {"groups": [{"groupId": "g", "topics": []}]})
    nothing = {"groupId": "g", "topics": [{"name": "orders", "partitionIndexes": []}]}
    s.send("OffsetFetch", 5, nothing)
    s.send("OffsetFetch", 8, {"groups": [nothing]})


@story()
def a_classic_group_lets_anybody_fetch(s: Script) -> None:
    """Member id and epoch of v9 are not looked at; neither does the group's state matter."""
    s.commit("orders-0=5")
    s.fetch("orders-0", version=9, member="nobody", sent_epoch=7)
    s.join("m1", version=3, error=PARKED)
    s.fetch("orders-0", version=9, member="nobody", sent_epoch=7)
    s.at(3_000, "JoinGroup=0")
    s.fetch("orders-0", version=9, member="m1", sent_epoch=0)
    s.sync("m1", 1, {"m1": b"all"})
    s.fetch("orders-0", version=9, member="m1", sent_epoch=1)
    s.fetch("orders-0", version=9, member="m1", sent_epoch=2)


@story()
def stable_fetches(s: Script) -> None:
    """KIP-447: requireStable changes nothing where there are no transactions."""
    s.commit("orders-0=5")
    s.fetch("orders-0", "orders-1", version=7, stable=True)
    s.fetch("orders-0", "orders-1", version=8, stable=True)
    s.fetch(version=9, stable=True)


@story()
def a_fetch_does_not_look_at_topics(s: Script) -> None:
    """Up to v9 a name need not exist; offsets of a topic that never was are still there."""
    s.commit("ghost-0=5")
    s.cluster("orders:1")
    s.fetch("ghost-0", "orders-0", version=8)
    s.fetch(version=9)
    s.fetch(version=10)


@story()
def fetches_by_topic_id(s: Script) -> None:
    """v10: an unknown id is UNKNOWN_TOPIC_ID, partition by partition."""
    s.cluster("orders:2")
    s.commit("orders-0=5")
    s.fetch("orders-0", "orders-1", "nope-0", "nope-3", version=10, error=(0, 0, 0, 100, 100))
    s.other("unknown").fetch("orders-0", "nope-0", version=10, error=(0, 0, 100))
    s.fetch(version=10)


@story()
def stable_fetches_during_a_transaction(s: Script) -> None:
    """testFetchOffsetsWithPendingTransactionalOffsets, testFetchAllOffsetsWith-: partition by partition."""
    s.commit("orders-0=100", "orders-1=110", "audit-0=200")
    s.txn_commit("orders-1=111", "audit-0=201", "audit-1=211")
    asked = ("orders-0", "orders-1", "audit-0", "audit-1")
    s.fetch(*asked, stable=True, error=(0, 0, 88, 88, 88))
    s.fetch(*asked)
    s.fetch(stable=True, version=9, error=(0, 0, 88, 88))
    s.fetch(version=9)
    s.end_txn()
    s.fetch(*asked, stable=True)
    s.fetch(stable=True, version=9)
