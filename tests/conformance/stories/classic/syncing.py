"""SyncGroup: the leader's assignment on its way to everybody (KIP-559 for the version 5 checks)."""

from __future__ import annotations

from tests.conformance.language.lines import FORGOTTEN, PARKED
from tests.conformance.language.script import Script
from tests.conformance.language.story import story


def joined(s: Script, *names: str, session: int = 10_000, rebalance: int = 60_000) -> None:
    """Bring the group to CompletingRebalance at 6,000 with these members, the first its leader."""
    for name in names:
        s.join(name, version=3, session=session, rebalance=rebalance, error=PARKED)
    s.at(3_000)
    s.at(6_000, " ".join(["JoinGroup=0"] * len(names)))


@story()
def a_follower_after_the_leader_is_answered_at_once(s: Script) -> None:
    """testSyncGroupFollowerAfterLeader."""
    joined(s, "m1", "m2")
    s.sync("m1", 1, {"m1": b"first", "m2": b"second"}, also="+group")
    s.heartbeat("m2", 1)
    s.sync("m2", 1, also="")
    s.sync("m2", 1, also="")
    s.sync("m1", 1, {"m1": b"something else"}, also="")
    s.describe()


@story()
def a_follower_before_the_leader_waits(s: Script) -> None:
    """testSyncGroupLeaderAfterFollower."""
    joined(s, "m1", "m2")
    s.sync("m2", 1, {"m2": b"a follower's word is not heard"}, error=PARKED, also="")
    s.heartbeat("m2", 1)
    s.describe()
    s.sync("m1", 1, {"m1": b"first", "m2": b"second"}, also="+group SyncGroup=0")


@story()
def members_left_out_get_nothing_and_strangers_are_ignored(s: Script) -> None:
    """testSyncGroupEmptyAssignment."""
    joined(s, "m1", "m2")
    s.sync("m2", 1, error=PARKED)
    s.sync("m1", 1, {"stranger": b"x"}, also="+group SyncGroup=0")
    s.sync("m1", 1)


@story()
def sync_is_refused(s: Script) -> None:
    """testSyncGroupFromUnknownGroup, -FromUnknownMember, -FromIllegalGeneration, inconsistent ones."""
    s.sync("m1", 1, error=25)
    joined(s, "m1", "m2")
    s.sync("m3", 1, error=25)
    s.sync("m3", 9, error=25)
    s.sync("m1", 0, error=22)
    s.sync("m1", 2, error=22)
    s.sync("m1", 2, version=3, error=22)
    s.sync("m1", 1, protocol="sticky", error=23)
    s.sync("m1", 1, protocol_type="connect", error=23)
    s.sync("m1", 1, protocol=None, error=23)
    s.sync("m1", 1, protocol_type=None, error=23)
    s.sync("m1", 1, version=4, also="+group")
    s.sync("m2", 1, protocol="sticky", error=23)
    s.leave("m2", "m1")
    s.sync("m1", 1, error=25)


@story()
def sync_in_preparing_rebalance(s: Script) -> None:
    """The next generation is on its way: REBALANCE_IN_PROGRESS."""
    s.form("m1", "m2")
    s.join("m1", error=PARKED)
    s.sync("m2", 1, error=27)
    s.sync("m1", 1, error=27)
    s.sync("m2", 2, error=22)


@story()
def sync_answers_of_all_versions(s: Script) -> None:
    """What a SyncGroup answer holds, version by version, in success and in failure."""
    for version in range(6):
        group, name = s.other(f"g{version}"), f"m{version}"
        group.join(name, version=3, error=PARKED)
    s.at(3_000, " ".join(["JoinGroup=0"] * 6))
    for version in range(6):
        group, name = s.other(f"g{version}"), f"m{version}"
        group.sync(name, 1, {name: b"all"}, version=version)
        group.sync(name, 7, version=version, error=22)
    s.other("g6").send("SyncGroup", 6, {"groupId": "g6"}, error=35)


@story()
def a_follower_that_does_not_sync_is_out(s: Script) -> None:
    """KAFKA-13435, testRebalanceTimesOutWhenSyncRequestIsNotReceivedFromFollowers."""
    joined(s, "m1", "m2", "m3", session=600_000, rebalance=20_000)
    s.sync("m1", 1, {"m1": b"1", "m2": b"2", "m3": b"3"}, also="+group")
    s.sync("m2", 1)
    s.at(25_999)
    s.heartbeat("m3", 1)
    s.at(26_000)
    s.heartbeat("m3", 1, error=25)
    s.heartbeat("m1", 1, error=27)
    s.describe()
    s.join("m1", version=3, error=PARKED)
    s.join("m2", version=3, also="JoinGroup=0")


@story()
def a_leader_that_does_not_sync_is_out(s: Script) -> None:
    """testRebalanceTimesOutWhenSyncRequestIsNotReceivedFromLeaders: followers are told to rejoin."""
    joined(s, "m1", "m2", "m3", session=600_000, rebalance=20_000)
    s.sync("m2", 1, error=PARKED)
    s.sync("m3", 1, error=PARKED)
    s.at(25_999)
    s.at(26_000, "SyncGroup=27 SyncGroup=27")
    s.heartbeat("m1", 1, error=25)
    s.leave("m3")
    s.join("m2", version=3, also="")


@story()
def nobody_syncs(s: Script) -> None:
    """testRebalanceTimesOutWhenSyncRequestIsNotReceived: all are removed, the group is Empty."""
    joined(s, "m1", "m2", session=600_000, rebalance=20_000)
    s.at(25_999)
    s.at(26_000, "+group")
    s.describe()


@story()
def the_longest_rebalance_timeout_counts_for_sync(s: Script) -> None:
    """The sync timer takes the longest of the members' rebalance timeouts."""
    s.join("m1", version=3, session=600_000, rebalance=20_000, error=PARKED)
    s.join("m2", version=3, session=600_000, rebalance=50_000, error=PARKED)
    s.at(3_000)
    s.at(6_000, "JoinGroup=0 JoinGroup=0")
    s.sync("m2", 1, error=PARKED)
    s.at(55_999)
    s.at(56_000, "SyncGroup=27")


@story()
def syncing_in_time_ends_the_sync_timer(s: Script) -> None:
    """testRebalanceDoesNotTimeOutWhenAllSyncAreReceived."""
    joined(s, "m1", "m2", session=600_000, rebalance=20_000)
    s.sync_all("m1", "m2", generation=1)
    s.at(26_000)
    s.heartbeat("m2", 1)
    s.at(605_999)
    s.heartbeat("m2", 1)
    s.at(606_000)
    s.heartbeat("m2", 1, error=27)


@story()
def a_member_that_syncs_twice_while_it_waits(s: Script) -> None:
    """A client that repeats its SyncGroup before the leader has spoken."""
    joined(s, "m1", "m2")
    s.sync("m2", 1, error=FORGOTTEN)
    s.sync("m2", 1, error=PARKED)
    s.sync("m1", 1, {"m2": b"once"}, also="+group SyncGroup=0")


@story()
def a_new_generation_has_a_sync_time_of_its_own(s: Script) -> None:
    """testNewGenerationClearsPendingSyncMembers: what was owed before is forgiven."""
    joined(s, "m1", "m2", session=600_000, rebalance=20_000)
    s.sync("m1", 1, {"m1": b"1", "m2": b"2"}, also="+group")
    s.at(16_000)
    s.join("m1", version=3, session=600_000, rebalance=20_000, error=PARKED)
    s.join("m2", version=3, session=600_000, rebalance=20_000, also="JoinGroup=0")
    s.sync("m1", 2, {"m1": b"1", "m2": b"2"}, also="+group")
    s.at(26_000)
    s.heartbeat("m2", 2)
    s.at(35_999)
    s.at(36_000)
    s.heartbeat("m2", 2, error=25)
    s.heartbeat("m1", 2, error=27)


@story()
def who_leaves_owes_no_sync(s: Script) -> None:
    """testRemovalFromPendingSyncWhenMemberIsRemoved: the others rebalance once, not again later."""
    joined(s, "m1", "m2", session=600_000, rebalance=20_000)
    s.sync("m1", 1, {"m1": b"1", "m2": b"2"}, also="+group")
    s.leave("m2", also="")
    s.join("m1", version=3, session=600_000, rebalance=20_000, also="")
    s.sync("m1", 2, {"m1": b"all"}, also="+group")
    s.at(100_000)
    s.heartbeat("m1", 2)


@story()
def a_phase_of_no_time_ends_at_once(s: Script) -> None:
    """A rebalance timeout may be any number: within none nobody can send the SyncGroup, and all are out again."""
    s.join("m1", version=3, rebalance=0, error=PARKED)
    s.at(3_000, "JoinGroup=0 +group")
    s.heartbeat("m1", 1, error=25)
    s.join("m2", version=3, rebalance=-2_147_483_648, error=PARKED)
    s.at(6_000, "JoinGroup=0 +group")
    s.join("m3", version=3, rebalance=4_000, error=PARKED)
    s.at(9_000, "JoinGroup=0")
    s.sync("m3", 5, {"m3": b"all"}, also="+group")
    s.join("m3", version=3, rebalance=-1, also="+group")
    s.heartbeat("m3", 6, error=25)
    s.describe()
