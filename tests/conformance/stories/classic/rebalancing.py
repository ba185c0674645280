"""Rebalances of a group that has members: who triggers one, who is waited for, who leads."""

from __future__ import annotations

from tests.conformance.language.lines import FORGOTTEN, PARKED, subscription
from tests.conformance.language.script import Script
from tests.conformance.language.story import story

SAME = {"range": subscription("orders")}
CHANGED = {"range": subscription("orders", "audit")}


@story()
def a_follower_that_rejoins_unchanged_does_not_rebalance(s: Script) -> None:
    """testJoinGroupFromUnchangedFollowerDoesNotRebalance."""
    s.form("m1", "m2")
    s.join("m2", protocols=SAME, also="")
    s.join("m2", version=9, protocols=SAME, also="")
    s.heartbeat("m1", 1)
    s.describe()


@story()
def a_follower_with_new_metadata_rebalances(s: Script) -> None:
    """testJoinGroupExistingMemberUpdatedMetadataTriggersRebalance."""
    s.form("m1", "m2")
    s.join("m2", protocols=CHANGED, error=PARKED)
    s.heartbeat("m1", 1, error=27)
    s.describe()
    s.join("m1", also="JoinGroup=0")
    s.sync_all("m1", "m2", generation=2)
    s.describe()


@story()
def a_follower_with_other_timeouts_only_does_not_rebalance(s: Script) -> None:
    """Only the protocols are compared: new timeouts are not taken over, the session goes on."""
    s.form("m1", "m2")
    s.at(7_000)
    s.join("m2", session=30_000, rebalance=90_000, also="")
    s.at(15_999)
    s.heartbeat("m1", 1)
    s.at(16_000)
    s.heartbeat("m2", 1, error=25)


@story()
def a_leader_that_rejoins_rebalances(s: Script) -> None:
    """testJoinGroupFromUnchangedLeaderShouldRebalance: the leader may have new partitions to give."""
    s.form("m1", "m2")
    s.join("m1", error=PARKED)
    s.heartbeat("m2", 1, error=27)
    s.at(7_500)
    s.join("m2", also="JoinGroup=0")
    s.sync_all("m1", "m2", generation=2)


@story()
def the_reordering_of_protocols_is_a_change(s: Script) -> None:
    """The list of protocols counts with its order and its bytes."""
    both = {"range": subscription("orders"), "sticky": subscription("orders")}
    s.join("m1", version=3, protocols=both, error=PARKED)
    s.join("m2", version=3, protocols=both, error=PARKED)
    s.at(3_000)
    s.at(6_000, "JoinGroup=0 JoinGroup=0")
    s.sync_all("m1", "m2", generation=1)
    s.join("m2", version=3, protocols=both, also="")
    s.join("m2", version=3, protocols=dict(reversed(both.items())), error=PARKED)


@story()
def rejoining_while_the_leader_works(s: Script) -> None:
    """CompletingRebalance: the same protocols get the same answer, new ones a new rebalance."""
    s.join("m1", version=3, error=PARKED)
    s.join("m2", version=3, error=PARKED)
    s.at(3_000)
    s.at(6_000, "JoinGroup=0 JoinGroup=0")
    s.join("m1", version=3, also="")
    s.join("m2", version=7, also="")
    s.sync("m2", 1, error=PARKED)
    s.join("m2", version=3, protocols=CHANGED, error=PARKED, also="SyncGroup=27")
    s.sync("m1", 1, {"m1": b"late"}, error=27)
    s.heartbeat("m1", 1, error=27)
    s.join("m1", version=3, also="JoinGroup=0")
    s.sync("m1", 1, {"m1": b"late"}, error=22)
    s.sync_all("m1", "m2", generation=2)


@story()
def those_who_do_not_rejoin_in_time_are_out(s: Script) -> None:
    """testCompleteJoinRemoveNotYetRejoinedDynamicMembers: at the longest rebalance timeout."""
    s.join("m1", version=3, session=300_000, rebalance=20_000, error=PARKED)
    s.join("m2", version=3, session=300_000, rebalance=30_000, error=PARKED)
    s.at(3_000)
    s.at(6_000, "JoinGroup=0 JoinGroup=0")
    s.sync_all("m1", "m2", generation=1)
    s.at(10_000)
    s.join("m3", version=3, session=300_000, rebalance=10_000, error=PARKED)
    s.heartbeat("m2", 1, error=27)
    s.at(39_999)
    s.at(40_000, "JoinGroup=0")
    s.heartbeat("m1", 1, error=25)
    s.heartbeat("m2", 2, error=25)
    s.sync("m3", 2, {"m3": b"all"})
    s.describe()


@story()
def the_leader_that_stays_away_is_replaced(s: Script) -> None:
    """testElectNewJoinedLeader: a member that rejoined leads the next generation."""
    s.form("m1", "m2", session=120_000)
    s.join("m2", protocols=CHANGED, error=PARKED)
    s.at(65_999)
    s.at(66_000, "JoinGroup=0")
    s.sync("m2", 2, {"m2": b"all"})
    s.heartbeat("m1", 1, error=25)


@story()
def a_newcomer_keeps_its_place_when_a_rebalance_goes_on(s: Script) -> None:
    """testJoinGroupSecondJoin: m3 joins while m1 and m2 come back one by one."""
    s.form("m1", "m2")
    s.join("m3", version=3, error=PARKED)
    s.at(7_000)
    s.join("m1", error=PARKED)
    s.at(8_000)
    s.join("m4", version=3, error=PARKED)
    s.at(9_000)
    s.join("m2", also="JoinGroup=0 JoinGroup=0 JoinGroup=0")
    s.sync_all("m1", "m2", "m3", "m4", generation=2)


@story()
def joining_again_while_waiting(s: Script) -> None:
    """PreparingRebalance: a member that joins again brings its newest protocols."""
    s.form("m1", "m2")
    s.join("m1", error=FORGOTTEN)
    s.at(7_000)
    s.join("m1", protocols=CHANGED, error=PARKED)
    s.join("m2", also="JoinGroup=0")
    s.sync_all("m1", "m2", generation=2)
    s.describe()


@story()
def joining_again_during_the_initial_delay(s: Script) -> None:
    """Only a newcomer extends the delay, not one that says it twice."""
    s.join("m1", error=79)
    s.join("m1", error=FORGOTTEN)
    s.at(2_000)
    s.join("m1", topics="audit", error=PARKED)
    s.at(2_999)
    s.at(3_000, "JoinGroup=0")
    s.sync("m1", 1, {"m1": b"all"})
    s.describe()


@story()
def an_empty_group_may_change_its_kind(s: Script) -> None:
    """The protocol type is that of whoever joins the Empty group."""
    s.form("m1")
    s.leave("m1")
    s.join("m2", version=3, protocol_type="connect", protocols={"v1": b"c"}, error=PARKED)
    s.join("m3", version=3, member="", error=23)
    s.at(6_000, "JoinGroup=0")
    s.sync("m2", 3, {"m2": b"all"}, protocol_type="connect", protocol="v1", also="+group")
    s.describe()


@story()
def the_majority_chooses_the_protocol(s: Script) -> None:
    """testSelectProtocol: each votes for the first of its own that everybody has."""
    kinds = {name: subscription("orders", version=version) for version, name in enumerate("abc")}

    def votes_for(order: str) -> dict[str, bytes]:
        return {name: kinds[name] for name in order}

    s.join("m1", version=3, protocols=votes_for("cab"), error=PARKED)
    s.join("m2", version=3, protocols=votes_for("ba"), error=PARKED)
    s.join("m3", version=3, protocols=votes_for("ab"), error=PARKED)
    s.join("m4", version=3, protocols=votes_for("cba"), error=PARKED)
    s.join("m5", version=3, protocols=votes_for("bca"), error=PARKED)
    s.at(3_000)
    s.at(6_000, " ".join(["JoinGroup=0"] * 5))
    s.sync("m1", 1, {"m1": b"all"}, protocol="a", error=23)
    s.sync("m1", 1, {"m1": b"all"}, protocol="b")
    s.describe()


@story()
def only_what_all_have_can_be_chosen(s: Script) -> None:
    """testSelectProtocolChoosesCompatibleProtocol: two love sticky, but range is all they share."""
    sticky, ranged = subscription("orders", version=3), subscription("orders", version=0)
    s.join("m1", version=3, protocols={"sticky": sticky, "range": ranged}, error=PARKED)
    s.join("m2", version=3, protocols={"sticky": sticky, "range": ranged}, error=PARKED)
    s.join("m3", version=3, protocols={"range": ranged}, error=PARKED)
    s.at(3_000)
    s.at(6_000, "JoinGroup=0 JoinGroup=0 JoinGroup=0")
    s.sync_all("m1", "m2", "m3", generation=1)
    s.leave("m3", also="")
    s.join("m1", version=3, protocols={"sticky": sticky, "range": ranged}, error=PARKED)
    s.join("m2", version=3, protocols={"sticky": sticky, "range": ranged}, also="JoinGroup=0")
    s.sync("m1", 2, {"m1": b"1", "m2": b"2"}, protocol="range", error=23)
    s.sync("m1", 2, {"m1": b"1", "m2": b"2"}, protocol="sticky")


@story(group_max_size=2)
def a_full_group_takes_no_newcomers(s: Script) -> None:
    """testJoinGroupShouldReceiveErrorIfGroupOverMaxSize."""
    s.form("m1", "m2")
    s.join("m3", member="", error=81, also="")
    s.join("m3", version=3, member="", error=81, also="")
    s.join("m3", version=9, member="unheard of", error=81)
    s.join("m2")
    s.leave("m2")
    s.join("m1", also="")
    s.join("m3", error=79)
    s.join("m3", error=PARKED)
    s.at(7_000)
    s.join("m1", also="JoinGroup=0")


@story(group_max_size=2)
def ids_are_given_beyond_the_size_but_not_places(s: Script) -> None:
    """testDynamicMembersJoinGroupWithMaxSizeAndRequiredKnownMember: pending ids do not count."""
    s.join("m1", error=79)
    s.join("m2", error=79)
    s.join("m3", error=79)
    s.join("m1", error=PARKED)
    s.join("m2", error=PARKED)
    s.join("m3", error=81)
    s.at(3_000)
    s.at(6_000, "JoinGroup=0 JoinGroup=0")
    s.join("m3", error=81)


@story(group_max_size=1)
def a_group_of_one_can_rebalance(s: Script) -> None:
    """The one who has the only place may join again."""
    s.form("m1")
    s.join("m2", member="", error=81)
    s.join("m1", also="")
    s.sync("m1", 2, {"m1": b"all"})


@story()
def a_newcomer_is_held_for_five_minutes(s: Script) -> None:
    """testNewMemberTimeoutCompletion: who joins for the first time has 300,000 ms, not its session."""
    s.join("m1", version=3, session=1_800_000, rebalance=900_000, error=PARKED)
    s.at(3_000, "JoinGroup=0")
    s.sync("m1", 1, {"m1": b"all"})
    s.join("m2", version=3, session=6_000, rebalance=900_000, error=PARKED)
    s.at(302_999)
    s.at(303_000, "JoinGroup=25")
    s.describe()
    s.join("m1", version=3, also="")


@story()
def generations_go_up_one_by_one(s: Script) -> None:
    """testGenerationIdIncrementsOnRebalance, over an Empty spell too."""
    s.form("m1")
    s.join("m1", also="")
    s.sync("m1", 2, {"m1": b"2"})
    s.leave("m1", also="+group")
    s.join("m2", version=3, error=PARKED, also="")
    s.at(6_000, "JoinGroup=0")
    s.sync("m2", 4, {"m2": b"4"})
    s.join("m2", version=3, also="")
    s.describe()


@story()
def a_rebalance_timeout_can_change_with_a_rebalance(s: Script) -> None:
    """testUpdateMember: whoever rejoins brings new timeouts, and the longest counts."""
    s.join("m1", version=3, session=600_000, rebalance=20_000, error=PARKED)
    s.at(3_000, "JoinGroup=0")
    s.sync("m1", 1, {"m1": b"all"})
    s.join("m1", version=3, session=600_000, rebalance=50_000, also="")
    s.sync("m1", 2, {"m1": b"all"})
    s.join("m2", version=3, session=600_000, rebalance=20_000, error=PARKED)
    s.at(52_999)
    s.at(53_000, "JoinGroup=0")
    s.heartbeat("m1", 2, error=25)
