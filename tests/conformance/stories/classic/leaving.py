"""LeaveGroup: by oneself, in a batch (KIP-345), with a reason (KIP-800)."""

from __future__ import annotations

from tests.conformance.language.lines import FORGOTTEN, PARKED
from tests.conformance.language.script import Script
from tests.conformance.language.story import story


@story()
def the_last_member_leaves(s: Script) -> None:
    """testValidLeaveGroup: the group is Empty, one generation on."""
    s.form("m1")
    s.at(5_000)
    s.leave("m1", reason="done for today", also="+group")
    s.describe()
    s.look()
    s.leave("m1", error=(0, 25), also="")


@story()
def one_of_two_leaves(s: Script) -> None:
    """The others rebalance; the one that left is unknown."""
    s.form("m1", "m2")
    s.leave("m2", also="")
    s.heartbeat("m2", 1, error=25)
    s.heartbeat("m1", 1, error=27)
    s.join("m1", also="")
    s.sync("m1", 2, {"m1": b"all"})


@story()
def several_leave_at_once(s: Script) -> None:
    """testStaticMembersValidBatchLeaveGroup for dynamic members, and one answer each."""
    s.form("m1", "m2", "m3")
    s.leave("m1", "nobody", "m3", error=(0, 0, 25, 0), also="")
    s.heartbeat("m2", 1, error=27)
    s.join("m2", also="")
    s.leave("m2", "m2", error=(0, 0, 25), also="+group")


@story()
def leaving_is_refused(s: Script) -> None:
    """testLeaveGroupUnknownGroup, testLeaveGroupUnknownMemberIdExistingGroup."""
    s.leave("m1", error=(0, 25))
    s.leave("m1", version=2, error=25)
    s.leave("m1", version=0, error=25)
    s.form("m1")
    s.leave("m2", error=(0, 25))
    s.leave("m2", version=1, error=25)
    s.send("LeaveGroup", 3, {"groupId": "g", "members": []}, also="")
    s.heartbeat("m1", 1)


@story()
def leaving_while_waiting(s: Script) -> None:
    """The parked join of who leaves gets UNKNOWN_MEMBER_ID, and the phase may be complete."""
    s.form("m1", "m2")
    s.join("m3", version=3, error=PARKED)
    s.join("m1", error=PARKED)
    s.heartbeat("m2", 1, error=27)
    s.leave("m2", also="JoinGroup=0 JoinGroup=0")
    s.join("m1", version=9, protocols={"range": b"new"}, error=PARKED)
    s.leave("m1", also="JoinGroup=25")
    s.join("m3", version=3, also="")
    s.sync("m3", 3, {"m3": b"all"})


@story()
def leaving_with_a_parked_sync(s: Script) -> None:
    """CompletingRebalance: the other parked syncs are sent back to join."""
    s.join("m1", version=3, error=PARKED)
    s.join("m2", version=3, error=PARKED)
    s.join("m3", version=3, error=PARKED)
    s.at(3_000)
    s.at(6_000, "JoinGroup=0 JoinGroup=0 JoinGroup=0")
    s.sync("m2", 1, error=PARKED)
    s.sync("m3", 1, error=FORGOTTEN)
    s.leave("m3", also="SyncGroup=27")
    s.join("m1", version=3, error=PARKED)
    s.join("m2", version=3, also="JoinGroup=0")


@story()
def the_leader_leaves(s: Script) -> None:
    """The other one leads."""
    s.form("m1", "m2")
    s.leave("m1", version=0, also="")
    s.join("m2", also="")
    s.sync("m2", 2, {"m2": b"all"})


@story()
def a_pending_member_leaves(s: Script) -> None:
    """testPendingMembersLeaveGroup: it gives its id back, and the phase is complete."""
    s.form("m1")
    s.join("m2", error=79)
    s.join("m1", error=PARKED)
    s.leave("m2", also="JoinGroup=0")
    s.join("m2", error=25)


@story()
def leaving_during_the_initial_delay(s: Script) -> None:
    """PreparingRebalance from Empty: the delay goes on, with or without members."""
    for name in ("m1", "m2"):
        s.join(name, error=79)
        s.join(name, error=PARKED)
    s.at(1_000)
    s.leave("m2", also="JoinGroup=25")
    s.at(3_000)
    s.at(6_000, "JoinGroup=0")
    s.leave("m1", also="+group")
    s.at(7_000)
    s.join("m3", error=79)
    s.join("m3", error=PARKED)
    s.leave("m3", also="JoinGroup=25")
    s.describe()
    s.at(9_999)
    s.at(10_000, "+group")
    s.describe()


@story()
def leave_answers_of_all_versions(s: Script) -> None:
    """What a LeaveGroup answer holds, version by version."""
    for version in range(6):
        group, name = s.other(f"g{version}"), f"m{version}"
        group.join(name, version=3, error=PARKED)
    s.at(3_000, " ".join(["JoinGroup=0"] * 6))
    for version in range(6):
        group, name = s.other(f"g{version}"), f"m{version}"
        group.leave(name, version=version, reason="bye", also="+group")
    s.send("LeaveGroup", 6, {"groupId": "g"}, error=35)


@story()
def static_members_leave_an_unknown_group(s: Script) -> None:
    """testStaticMembersLeaveUnknownGroup: every one of them is unknown."""
    s.join("m1", instance="i1", error=PARKED)
    nowhere = s.other("nowhere")
    nowhere.leave("@i1", "m1@i1", error=(0, 25, 25), also="")
    nowhere.look()


@story()
def members_and_a_pending_one_leave_together(s: Script) -> None:
    """testJoinedMemberPendingMemberBatchLeaveGroup."""
    s.form("m1", "m2")
    s.join("m3", error=79)
    s.leave("m1", "m2", "m3", also="+group")
    s.join("m3", error=25, also="")
    s.describe()


@story()
def members_a_pending_one_and_a_stranger_leave_together(s: Script) -> None:
    """testJoinedMemberPendingMemberBatchLeaveGroupWithUnknownMember: the stranger hears so."""
    s.form("m1", "m2")
    s.join("m3", error=79)
    s.leave("m1", "m2", "m3", "stranger", error=(0, 0, 0, 0, 25), also="+group")
    s.describe()


@story()
def a_pending_member_that_leaves_a_stable_group_makes_it_rebalance(s: Script) -> None:
    """testPendingMemberBatchLeaveGroup: Kafka does not ask which kind of member it was."""
    s.form("m1", "m2")
    s.join("m3", error=79)
    s.heartbeat("m1", 1)
    s.leave("m3", also="")
    s.heartbeat("m1", 1, error=27)
    s.join("m1", error=PARKED)
    s.join("m2", also="JoinGroup=0")
    s.sync_all("m1", "m2", generation=2)


@story()
def an_id_that_is_pending_when_all_have_left(s: Script) -> None:
    """It holds back whoever joins then, until the phase has lasted as long as those who left might have taken."""
    s.join("m1", version=3, rebalance=1_000, error=PARKED)
    s.join("m2", version=3, rebalance=1_000, error=PARKED)
    s.at(3_000, "JoinGroup=0 JoinGroup=0")
    s.sync_all("m1", "m2", generation=1)
    s.leave("m2")
    s.join("m3", error=79)
    s.leave("m1")
    s.at(3_500)
    s.join("m4", version=3, error=PARKED, also="")
    s.at(3_999)
    s.at(4_000, "JoinGroup=0")
