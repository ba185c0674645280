"""Stories of restarts: another coordinator loads the log. Sessions begin again, and requests that were pending are lost."""

from __future__ import annotations

from tests.conformance.language.consumer_script import ConsumerScript
from tests.conformance.language.lines import LATEST, LIVE, PARKED
from tests.conformance.language.script import Script
from tests.conformance.language.story import consumer_story, story

SWEEPS = {"offsets_retention_check_interval_ms": 1_000}
UNKNOWN, REBALANCING, FULL, UNSTABLE = 25, 27, 81, 88


@story(**SWEEPS)
def a_classic_group_is_loaded_with_its_members(s: Script) -> None:
    """Every session begins with the restart, and the generation goes on."""
    s.form("m1", "m2")
    s.at(12_000)
    s.restart(also="")
    s.describe()
    s.heartbeat("m1", 1)
    s.commit("orders-0=1", member="m2", generation=1)
    s.at(20_000)
    s.heartbeat("m1", 1)
    s.at(21_999)
    s.at(22_000)
    s.heartbeat("m1", 1, error=REBALANCING)
    s.heartbeat("m2", 1, error=UNKNOWN)
    s.join("m1", also="")
    s.sync("m1", 2, {"m1": b"all"}, also="+group")
    s.look()


@story(**SWEEPS)
def a_rebalance_that_nobody_ends(s: Script) -> None:
    """onUnloaded, onLoaded: the group is Stable again as it was logged last; who was joining is no member."""
    s.form("m1")
    s.join("m2", error=79)
    s.join("m2", error=PARKED)
    s.heartbeat("m1", 1, error=REBALANCING)
    s.restart(also="")
    s.describe()
    s.heartbeat("m1", 1)
    s.join("m2", error=UNKNOWN)
    s.at(12_999)
    s.at(13_000, "+group -group")
    s.look()


@story(group_max_size=2, **SWEEPS)
def a_group_that_is_too_large_now(s: Script) -> None:
    """onLoaded: maybePrepareRebalance with a lower group.max.size; who comes last has no place."""
    s.form("m1", "m2")
    s.restart(group_max_size=1, also="")
    s.heartbeat("m1", 1, error=REBALANCING)
    s.heartbeat("m2", 1, error=REBALANCING)
    s.join("m1", error=PARKED, also="")
    s.join("m2", error=FULL, also="")
    s.look()


@story(**SWEEPS)
def a_static_member_of_a_classic_group_after_a_restart(s: Script) -> None:
    """The instance id is in the log: its next process gets the place without a rebalance."""
    s.join("m1", instance="i1", error=PARKED)
    s.at(3_000, "JoinGroup=0")
    s.sync("m1", 1, {"m1": b"all"}, instance="i1")
    s.restart(also="")
    s.join("m2", instance="i1", also="+group")
    s.heartbeat("m1", 1, instance="i1", error=82)
    s.heartbeat("m2", 1, instance="i1")
    s.look()


@story(offsets_retention_ms=60_000, **SWEEPS)
def offsets_expire_as_if_nothing_had_happened(s: Script) -> None:
    s.at(1_000)
    s.commit("orders-0=1")
    s.at(2_000)
    s.commit("orders-1=1")
    s.at(61_000, "-offset:orders-0")
    s.restart(also="")
    s.at(61_999)
    s.at(62_000, "-offset:orders-1 -group")
    s.look()


@story(offsets_retention_ms=60_000, **SWEEPS)
def an_empty_group_waits_from_its_own_time_on(s: Script) -> None:
    """The time at which it became empty is in the log, not that of the restart."""
    s.form("m1")
    s.commit("orders-0=1", member="m1", generation=1)
    s.at(10_000)
    s.leave("m1", also="+group")
    s.at(69_000)
    s.restart(also="")
    s.at(69_999)
    s.at(70_000, "-offset:orders-0 -group")


@story(**SWEEPS)
def transactions_stay_open(s: Script) -> None:
    """replayEndTransactionMarker: what waits is loaded as what waits, and what was ended as it ended."""
    s.commit("orders-0=1")
    s.txn_commit("orders-0=2", producer=17)
    s.txn_commit("orders-1=3", producer=18)
    s.txn_commit("orders-2=4", producer=19)
    s.end_txn(producer=18, also="commit")
    s.end_txn(producer=19, commit=False, also="abort")
    s.restart(also="")
    s.fetch("orders-0", "orders-1", "orders-2", stable=True, error=(0, UNSTABLE, 0, 0))
    s.look()
    s.end_txn(producer=17, also="commit")
    s.fetch(stable=True)


@consumer_story(**SWEEPS)
def a_member_has_its_whole_time_to_give_partitions_back(s: ConsumerScript) -> None:
    """onLoaded: the rebalance timeout begins again for who still owns what it must give back."""
    s.cluster("orders:4")
    s.enter("m1", rebalance=5_000)
    s.enter("m2", epoch=3, assigned="")
    s.ack("m1", epoch=2, assigned="orders:01", also="+current:m1")
    s.at(4_000)
    s.restart(also="")
    s.describe_consumers(state="Reconciling", epochs={"m1": 2, "m2": 3})
    s.beat("m2", epoch=3)
    s.at(8_999)
    s.at(9_000, "-current:m1 -target:m1 -member:m1 +epoch=4")
    s.beat("m2", epoch=4, assigned="orders:0123")
    s.look()


@consumer_story(**SWEEPS)
def a_reconciliation_goes_on(s: ConsumerScript) -> None:
    s.cluster("orders:4")
    s.enter("m1")
    s.enter("m2")
    s.ack("m1", epoch=2, assigned="orders:01")
    s.restart(also="")
    s.ack("m1", epoch=3, also="+current:m1")
    s.beat("m2", epoch=3, assigned="orders:23")
    s.describe_consumers(state="Stable", holds={"m1": "orders:01", "m2": "orders:23"})


@consumer_story(**SWEEPS)
def a_static_member_is_awaited_again(s: ConsumerScript) -> None:
    """Who left for a while has a whole session from the restart on, and gets back what it had."""
    s.cluster("orders:4")
    s.enter("m1", instance="i1")
    s.enter("m2", instance="i2")
    s.settle("m1", "m2")
    s.pause("m1", epoch=-2)
    s.pause("m2", epoch=-2)
    s.at(40_000)
    s.restart(also="")
    s.enter("m3", instance="i1", epoch=3, assigned="orders:01")
    s.at(84_999)
    s.beat("m3", instance="i1")
    s.at(85_000, "-current:m2 -target:m2 -member:m2 +epoch=4")
    s.look()


@consumer_story(**SWEEPS)
def sessions_that_began_with_the_restart_end_together(s: ConsumerScript) -> None:
    """In the order of the table of members: the hash of the epoch between them shows who was first."""
    s.cluster("orders:4", "audit:2")
    for name, topics in (("m1", "orders"), ("s1", ""), ("t1", "audit"), ("m2", "orders")):
        s.enter(name, topics)
    s.restart(also="")
    gone = " ".join(f"-current:{m} -target:{m} -member:{m}" for m in ("m1", "s1", "t1", "m2"))
    s.at(46_000, f"{gone} +epoch=5 +epoch=6 +epoch=7 +epoch=8 +targets=8 -epoch -targets -metadata")


@consumer_story(**SWEEPS)
def a_cleaned_log(s: ConsumerScript) -> None:
    """Without the values that were replaced the group is the same, and then without those who left."""
    s.cluster("orders:4", "audit:2")
    s.gather("m1", "m2", "m3")
    s.classic("c1", "audit", error=0)
    s.quit("m2")
    s.commit("orders-0=1", member="m1", generation="#m1", version=9)
    s.restart(LATEST, also="")
    s.settle("m1", "m3")
    s.describe_consumers()
    s.restart(LIVE, also="")
    s.describe_consumers()
    s.settle("m1", "m3")
    s.look()


@consumer_story(**SWEEPS)
def expressions_in_a_cluster_without_topics(s: ConsumerScript) -> None:
    """lastMetadataImageWithNewTopics: to the next coordinator all topics are new, even none."""
    s.cluster("orders:4")
    s.enter("m1", None, regex="or.*", also="+member:m1 +epoch=2 +current:m1 +regex:or.*")
    s.beat("m1", epoch=2)
    s.cluster()
    s.at(12_000)
    s.restart(also="")
    renewed = "+epoch=3 +targets=3 +target:m1 +current:m1"
    s.beat("m1", epoch=2, also=f"{renewed} +regex:or.* +epoch=4")
