"""Rebalances of static members (KIP-345): who is waited for, who leads, who is fenced."""

from __future__ import annotations

from tests.conformance.language.lines import PARKED, subscription
from tests.conformance.language.script import Script
from tests.conformance.language.story import story

BOTH = {"range": subscription("orders"), "sticky": subscription("orders")}
STICKY = {"sticky": subscription("orders")}


def static_pair(s: Script, *, session: int) -> None:
    """Make a Stable group of generation 1 at 6,000: m1 (instance i1) leads, m2 (i2) follows."""
    for name, instance in (("m1", "i1"), ("m2", "i2")):
        s.join(name, instance=instance, protocols=BOTH, session=session, error=PARKED)
    s.at(3_000)
    s.at(6_000, "JoinGroup=0 JoinGroup=0")
    s.sync_all("m1", "m2", generation=1)


@story()
def a_static_leader_with_its_own_id_rebalances(s: Script) -> None:
    """testStaticMemberRejoinWithLeaderIdAndKnownMemberId: the follower lapses meanwhile."""
    static_pair(s, session=20_000)
    s.at(10_000)
    s.join("m1", instance="i1", protocols=BOTH, session=20_000, error=PARKED, also="")
    s.at(25_999)
    s.at(26_000, "JoinGroup=0")
    s.sync("m1", 2, {"m1": b"all"}, instance="i1", also="+group")
    s.describe()


@story()
def a_static_follower_changes_its_protocol_under_its_id(s: Script) -> None:
    """testStaticMemberRejoinWithFollowerIdAndChangeOfProtocol: the leader stays away, but stays."""
    static_pair(s, session=120_000)
    s.join("m2", instance="i2", protocols=STICKY, session=120_000, error=PARKED, also="")
    s.heartbeat("m1", 1, instance="i1", error=27)
    s.at(65_999)
    s.at(66_000, "JoinGroup=0")
    s.sync("m2", 2, {"m1": b"1", "m2": b"2"}, protocol="sticky", instance="i2", also="+group")
    s.describe()


@story()
def another_copy_of_a_static_follower_changes_the_protocol(s: Script) -> None:
    """testStaticMemberRejoinWithUnknownMemberIdAndChangeOfProtocolWithSelectedProtocolChanged."""
    static_pair(s, session=120_000)
    s.join("m2b", instance="i2", protocols=STICKY, session=120_000, error=PARKED, also="")
    s.heartbeat("m2", 1, instance="i2", error=82)
    s.heartbeat("m1", 1, instance="i1", error=27)
    s.at(65_999)
    s.at(66_000, "JoinGroup=0")
    s.sync("m2b", 2, {"m1": b"1", "m2b": b"2"}, protocol="sticky", instance="i2", also="+group")
    s.describe()


@story()
def a_static_leader_rebalances_and_another_copy_follows(s: Script) -> None:
    """testStaticMemberRejoinWithKnownLeaderIdToTriggerRebalanceAndFollowerWithChangeOfProtocol."""
    static_pair(s, session=120_000)
    s.join("m1", instance="i1", protocols=BOTH, session=120_000, error=PARKED, also="")
    s.join("m2b", instance="i2", protocols=STICKY, session=120_000, also="JoinGroup=0")
    s.sync("m2b", 2, protocol="range", instance="i2", error=23)
    s.sync("m2b", 2, protocol="sticky", instance="i2", error=PARKED)
    s.sync("m2", 2, protocol="sticky", instance="i2", error=82)
    assignments = {"m1": b"1", "m2b": b"2"}
    s.sync("m1", 2, assignments, protocol="sticky", instance="i1", also="+group SyncGroup=0")
    s.describe()


@story()
def every_return_of_a_static_member_gives_another_id(s: Script) -> None:
    """testGetDifferentStaticMemberIdAfterEachRejoin."""
    static_pair(s, session=120_000)
    copies = ["m2", *(f"m2-{number}" for number in range(5))]
    for copy in copies[1:]:
        s.join(copy, instance="i2", protocols=BOTH, session=120_000, also="+group")
    for copy in copies[:-1]:
        s.heartbeat(copy, 1, instance="i2", error=82)
    s.heartbeat(copies[-1], 1, instance="i2")


@story()
def a_copy_fences_the_one_that_waits_for_a_newcomer(s: Script) -> None:
    """testStaticMemberFenceDuplicateRejoinedFollower."""
    static_pair(s, session=120_000)
    s.join("m3", version=3, protocols=BOTH, session=120_000, error=PARKED)
    s.join("m2", instance="i2", protocols=BOTH, session=120_000, error=PARKED, also="")
    s.join("m2b", instance="i2", protocols=BOTH, session=120_000, error=PARKED, also="JoinGroup=82")
    s.join("m1", instance="i1", protocols=BOTH, session=120_000, also="JoinGroup=0 JoinGroup=0")
    s.sync_all("m1", "m2b", "m3", generation=2)


@story()
def a_static_member_that_missed_a_generation_lapses(s: Script) -> None:
    """testRebalanceCompletesBeforeMemberJoins: it keeps its place for one session more."""
    s.join("m1", instance="i1", rebalance=10_000, error=PARKED)
    s.at(3_000, "JoinGroup=0")
    s.sync("m1", 1, {"m1": b"all"}, instance="i1")
    s.join("m2", version=3, session=6_000, rebalance=10_000, error=PARKED)
    s.at(8_000)
    s.heartbeat("m1", 1, instance="i1", error=27)
    s.at(12_999)
    s.at(13_000, "JoinGroup=0")
    s.sync("m2", 2, {"m2": b"2"}, also="+group")
    s.heartbeat("m1", 1, instance="i1", error=22)
    s.at(18_000)
    s.heartbeat("m2", 2)
    s.at(22_999)
    s.heartbeat("m2", 2)
    s.at(23_000)
    s.heartbeat("m2", 2, error=27)
    s.join("m2", version=3, session=6_000, rebalance=10_000, also="")
    s.sync("m2", 3, {"m2": b"all"}, also="+group")
    s.heartbeat("m2", 3)


@story()
def a_static_member_alone_holds_up_the_join_phase(s: Script) -> None:
    """testGroupStuckInRebalanceTimeoutDueToNonjoinedStaticMember, up to the end of its session."""
    static_pair(s, session=200_000)
    s.join("m3", version=3, protocols=BOTH, session=200_000, error=PARKED)
    s.at(65_999)
    s.at(66_000, "JoinGroup=0")
    s.leave("m2@i2", also="")
    s.at(126_000)
    s.heartbeat("m3", 2, error=25)
    s.describe()
    s.at(265_999)
    s.describe()
    s.at(266_000, "+group")
    s.describe()


@story()
def a_static_member_comes_back_with_another_subscription(s: Script) -> None:
    """Without a rebalance the group goes by the old one: what is new is not protected, what is gone still is."""
    s.join("m1", instance="i1", topics="orders", error=PARKED)
    s.at(3_000, "JoinGroup=0")
    s.sync("m1", 1, {"m1": b"all"}, instance="i1")
    s.commit("orders-0=1", "refunds-0=1", member="m1", generation=1, instance="i1")
    s.join("m2", instance="i1", topics="refunds", also="+group")
    s.delete_offsets("orders-0", error=(0, 86), also="")
    s.delete_offsets("refunds-0", also="-offset:refunds-0")
    s.describe()


@story()
def a_short_join_phase_begins_again_until_somebody_comes(s: Script) -> None:
    """completeClassicGroupJoin looks again after each rebalance timeout: who comes waits for the next of these times."""
    for name, instance in (("m1", "i1"), ("m2", "i2"), ("m3", "i3")):
        s.join(name, instance=instance, rebalance=300, error=PARKED)
    s.at(3_000, "JoinGroup=0 JoinGroup=0 JoinGroup=0")
    for name, instance in (("m1", "i1"), ("m2", "i2"), ("m3", "i3")):
        s.sync(name, 1, {}, instance=instance)
    s.at(12_000)
    s.heartbeat("m1", 1, instance="i1")
    s.heartbeat("m2", 1, instance="i2")
    s.at(13_301)
    s.join("m1", instance="i1", rebalance=7, error=PARKED, also="")
    s.at(13_599)
    s.at(13_600, "JoinGroup=0")
    s.sync("m1", 2, {}, instance="i1", also="+group")
    s.at(13_899)
    s.heartbeat("m2", 1, instance="i2", error=22)
    s.at(13_900)
    s.heartbeat("m2", 1, instance="i2", error=25)
    s.heartbeat("m1", 2, instance="i1", error=27)
    s.at(14_550)
    s.join("m1", instance="i1", rebalance=300)
