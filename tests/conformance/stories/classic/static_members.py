"""Static membership (KIP-345): a member that comes back under its own name."""

from __future__ import annotations

from tests.conformance.language.lines import PARKED, subscription
from tests.conformance.language.script import Script
from tests.conformance.language.story import story

BOTH = {"range": subscription("orders"), "sticky": subscription("orders")}


def static_pair(s: Script, *, session: int = 10_000) -> None:
    """Make a Stable group of generation 1 at 6,000: m1 (instance i1) leads, m2 (i2) follows."""
    s.join("m1", instance="i1", session=session, error=PARKED)
    s.join("m2", instance="i2", session=session, error=PARKED)
    s.at(3_000)
    s.at(6_000, "JoinGroup=0 JoinGroup=0")
    s.sync_all("m1", "m2", generation=1)


@story()
def a_static_member_needs_no_id_first(s: Script) -> None:
    """testStaticMemberJoinAsFirstMember: the id is made of the instance, not of the client."""
    s.join("m1", instance="i1", error=PARKED, also="+group")
    s.at(3_000, "JoinGroup=0")
    s.sync("m1", 1, {"m1": b"all"}, instance="i1")
    s.describe()
    s.look()


@story()
def a_static_follower_returns_without_a_rebalance(s: Script) -> None:
    """testStaticMemberRejoinAsFollowerWithUnknownMemberId: new id, same generation, one record."""
    static_pair(s)
    s.at(8_000)
    s.join("m2b", instance="i2", also="+group")
    s.heartbeat("m1", 1)
    s.sync("m2b", 1, instance="i2")
    s.heartbeat("m2b", 1, instance="i2")
    s.heartbeat("m2", 1, instance="i2", error=82)
    s.heartbeat("m2", 1, error=25)
    s.describe()
    s.at(15_999)
    s.heartbeat("m1", 1)
    s.heartbeat("m2b", 1)


@story()
def a_static_leader_returns_before_version_9(s: Script) -> None:
    """testStaticMemberRejoinWithLeaderIdAndUnknownMemberId: it is told of its old id as leader."""
    static_pair(s)
    s.join("m1b", version=8, instance="i1", also="+group")
    s.sync("m1b", 1, {"m1b": b"not heard"}, instance="i1", also="")
    s.heartbeat("m2", 1, instance="i2")


@story()
def a_static_leader_returns_in_version_9(s: Script) -> None:
    """KIP-814: it leads, and is told to skip the assignment."""
    static_pair(s)
    s.join("m1b", version=9, instance="i1", also="+group")
    s.join("m2b", version=9, instance="i2", also="+group")
    s.heartbeat("m1b", 1, instance="i1")
    s.describe()


@story()
def the_old_id_is_fenced_everywhere(s: Script) -> None:
    """testReplaceStaticMemberInStableStateNoError and what the other copy then hears."""
    static_pair(s)
    s.join("m2b", instance="i2")
    s.heartbeat("m2", 1, instance="i2", error=82)
    s.sync("m2", 1, instance="i2", error=82)
    s.commit("orders-0=1", member="m2", generation=1, instance="i2", error=82)
    s.leave("m2@i2", error=(0, 82))
    s.join("m2", member="m2", instance="i2", error=82)
    s.heartbeat("m2b", 1, instance="i3", error=25)
    s.commit("orders-0=1", member="m2b", generation=1, instance="i2")


@story()
def a_new_subscription_under_the_same_protocol(s: Script) -> None:
    """testStaticMemberRejoinWithUnknownMemberIdAndChangeOfProtocolWhileSelectProtocolUnchanged."""
    static_pair(s)
    s.join("m2b", topics="orders audit", instance="i2", also=None, error=0)
    s.heartbeat("m1", 1, instance="i1", error=0)
    s.describe()


@story()
def another_protocol_for_a_static_member_rebalances(s: Script) -> None:
    """testReplaceStaticMemberInStableStateWithUpdatedProtocolTriggersRebalance."""
    order = dict(reversed(BOTH.items()))
    s.join("m1", instance="i1", protocols=BOTH, error=PARKED)
    s.at(3_000, "JoinGroup=0")
    s.sync("m1", 1, {"m1": b"all"})
    s.join("m1b", instance="i1", protocols=order, also="")
    s.heartbeat("m1b", 1, error=22)
    s.sync("m1b", 2, {"m1b": b"all"}, protocol="sticky")
    s.describe()


@story()
def a_known_id_of_a_static_member(s: Script) -> None:
    """testStaticMemberRejoinWithKnownMemberId and -AsFollowerWithKnownMemberIdAndNoProtocolChange."""
    static_pair(s)
    s.join("m2", instance="i2", also="")
    s.join("m2", instance="i2", topics="audit", error=PARKED)
    s.join("m1", instance="i1", also="JoinGroup=0")


@story()
def wrong_instances_are_refused(s: Script) -> None:
    """testStaticMemberJoinWithUnknownInstanceIdAndKnownMemberId, -WithMismatchedInstanceId."""
    s.join("m0", member="some id", instance="i1", error=25)
    static_pair(s)
    s.join("m1", instance="i9", error=25)
    s.join("m1", instance="i2", error=82)
    s.join("m2", member="some id", instance="i2", error=82)
    s.sync("m1", 1, instance="i2", error=82)
    s.sync("m1", 1, instance="i9", error=25)
    s.heartbeat("m1", 1, instance="i2", error=82)
    s.heartbeat("m1", 1)
    s.commit("orders-0=1", member="m1", generation=1, instance="i2", error=82)
    s.commit("orders-0=1", member="m1", generation=1, instance="i9", error=25)
    s.commit("orders-0=1", member="", generation=-1, instance="i1", error=82)
    s.commit("orders-0=1", member="m1", generation=1, version=6)


@story()
def a_static_member_is_replaced_while_it_waits_to_join(s: Script) -> None:
    """testStaticMemberFenceDuplicateRejoiningFollowerAfterMemberIdChanged: the first one is fenced."""
    static_pair(s)
    s.join("m1", instance="i1", error=PARKED)
    s.join("m2", instance="i2", also="JoinGroup=0")
    s.sync_all("m1", "m2", generation=2)
    s.join("m2", instance="i2", topics="audit", error=PARKED)
    s.join("m2b", instance="i2", error=PARKED, also="JoinGroup=82")
    s.join("m1", instance="i1", also="JoinGroup=0")


@story()
def a_static_member_is_replaced_during_the_initial_delay(s: Script) -> None:
    """The first copy's join is fenced; the delay goes on for the second."""
    s.join("m1", instance="i1", error=PARKED)
    s.at(1_000)
    s.join("m1b", version=9, instance="i1", error=PARKED, also="JoinGroup=82")
    s.at(3_000, "JoinGroup=0")
    s.sync("m1b", 1, {"m1b": b"all"}, instance="i1")


@story()
def a_static_member_is_replaced_while_it_waits_to_sync(s: Script) -> None:
    """testReplaceStaticMemberInCompletingRebalanceStateTriggersRebalance."""
    s.join("m1", instance="i1", error=PARKED)
    s.join("m2", instance="i2", error=PARKED)
    s.at(3_000)
    s.at(6_000, "JoinGroup=0 JoinGroup=0")
    s.sync("m2", 1, instance="i2", error=PARKED)
    s.join("m2b", instance="i2", error=PARKED, also="SyncGroup=82")
    s.sync("m1", 1, {"m1": b"all"}, instance="i1", error=27)
    s.join("m1", instance="i1", also="JoinGroup=0")
    s.sync_all("m1", "m2b", generation=2)


@story()
def a_static_member_that_stays_away_keeps_its_place(s: Script) -> None:
    """testStaticMemberFollowerFailToRejoinBeforeRebalanceTimeout: it is in the next generation."""
    static_pair(s, session=100_000)
    s.at(10_000)
    s.join("m1", instance="i1", session=100_000, error=PARKED)
    s.at(69_999)
    s.at(70_000, "JoinGroup=0")
    s.sync("m1", 2, {"m1": b"1", "m2": b"2"}, instance="i1", also="+group")
    s.sync("m2", 2, instance="i2")
    s.at(105_999)
    s.heartbeat("m1", 2, instance="i1")
    s.at(106_000)
    s.heartbeat("m1", 2, instance="i1")
    s.describe()


@story()
def a_static_leader_that_stays_away_is_replaced_as_leader(s: Script) -> None:
    """testStaticMemberLeaderFailToRejoinBeforeRebalanceTimeout."""
    static_pair(s, session=100_000)
    s.at(10_000)
    s.join("m2", instance="i2", topics="audit", error=PARKED)
    s.at(70_000, "JoinGroup=0")
    s.sync("m2", 2, {"m1": b"1", "m2": b"2"}, instance="i2", also="+group")
    s.heartbeat("m1", 2, instance="i1")
    s.describe()


@story()
def nobody_comes_back_but_static_members_stay(s: Script) -> None:
    """testCompleteJoinPhaseNoMembersRejoinedExtendsJoinPhase: the phase is extended, not ended."""
    s.join("m1", instance="i1", session=500_000, error=PARKED)
    s.join("m2", session=500_000, error=79)
    s.join("m2", session=500_000, error=PARKED)
    s.at(3_000)
    s.at(6_000, "JoinGroup=0 JoinGroup=0")
    s.sync_all("m1", "m2", generation=1)
    s.join("m2", topics="audit", session=500_000, error=PARKED)
    s.at(10_000)
    s.leave("m2", also="JoinGroup=25")
    s.at(66_000)
    s.describe()
    s.heartbeat("m1", 1, instance="i1", error=27)
    s.at(126_000)
    s.join("m1", instance="i1", session=500_000, also="")
    s.sync("m1", 2, {"m1": b"all"}, instance="i1")


@story()
def a_static_session_ends_like_any_other(s: Script) -> None:
    """KIP-345: a static member that does not return within its session is gone."""
    static_pair(s)
    s.at(15_000)
    s.heartbeat("m1", 1, instance="i1")
    s.at(15_999)
    s.describe()
    s.at(16_000)
    s.heartbeat("m1", 1, instance="i1", error=27)
    s.join("m2b", instance="i2", error=PARKED)
    s.join("m1", instance="i1", also="JoinGroup=0")


@story()
def an_administrator_removes_static_members(s: Script) -> None:
    """testStaticMembersValidBatchLeaveGroup: by instance, without an id."""
    static_pair(s)
    s.leave("@i1", "@i9", "m2@i1", "some id@i2", error=(0, 0, 25, 25, 82))
    s.heartbeat("m2", 1, instance="i2", error=27)
    s.leave("@i2", version=3, also="+group")
    s.describe()


@story()
def a_pending_member_cannot_become_static(s: Script) -> None:
    """testJoinGroupExistingPendingMemberWithGroupInstanceIdThrowsException."""
    s.join("m1", error=79)
    s.join("m1", instance="i1", error=-1)
    s.join("m1", error=PARKED)
    s.at(3_000, "JoinGroup=0")


@story(group_max_size=2)
def static_members_and_the_size_of_a_group(s: Script) -> None:
    """testStaticMembersJoinGroupWithMaxSize: without its id, even a known instance is a newcomer."""
    static_pair(s)
    s.join("m3", instance="i3", error=81)
    s.join("m2b", member="", instance="i2", error=81)
    s.join("m2", instance="i2")
