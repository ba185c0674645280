"""DeleteGroups (KIP-229) and OffsetDelete (KIP-496)."""

from __future__ import annotations

from tests.conformance.language.lines import PARKED, subscription
from tests.conformance.language.script import Script
from tests.conformance.language.story import story


@story()
def an_empty_group_is_deleted_with_its_offsets(s: Script) -> None:
    """KIP-229, testDeleteGroups: a tombstone for every offset, then one for the group."""
    s.form("m1")
    s.commit("orders-0=1", "orders-1=1", "audit-0=1", member="m1", generation=1)
    s.leave("m1")
    s.at(4_000)
    s.delete(also="-offset:orders-0 -offset:orders-1 -offset:audit-0 -group")
    s.look()
    s.describe(error=69)
    s.fetch("orders-0")
    s.heartbeat("m1", 1, error=25)


@story()
def a_simple_group_is_deleted(s: Script) -> None:
    """It gets a group tombstone though it never had a group record."""
    s.commit("orders-0=1")
    s.delete(also="-offset:orders-0 -group")
    s.look()


@story()
def an_unknown_group_is_not_deleted(s: Script) -> None:
    """GROUP_ID_NOT_FOUND, in every version; twice in a row too."""
    for version in range(4):
        s.delete(version=version, error=69, also="")
    s.commit("orders-0=1")
    s.delete()
    s.delete(error=69)
    s.other("").delete(error=69)
    s.send("DeleteGroups", 4, {"groupsNames": ["g"]}, error=35)


@story()
def only_empty_groups_are_deleted(s: Script) -> None:
    """NON_EMPTY_GROUP in every other state, and nothing changes."""
    s.join("m1", version=3, error=PARKED)
    s.delete(error=68, also="")
    s.join("m2", version=3, error=PARKED)
    s.at(3_000)
    s.at(6_000, "JoinGroup=0 JoinGroup=0")
    s.delete(error=68, also="")
    s.sync_all("m1", "m2", generation=1)
    s.commit("orders-0=1", member="m1", generation=1)
    s.delete(error=68, also="")
    s.join("m1", version=3, error=PARKED)
    s.delete(error=68, also="")
    s.fetch("orders-0")
    s.leave("m1", "m2")
    s.delete(also="-offset:orders-0 -group")


@story()
def deletion_answers_of_all_versions(s: Script) -> None:
    """What a DeleteGroups answer holds, version by version; the text that version 3 has room for is null."""
    for version in range(4):
        s.commit("orders-0=1")
        s.delete(version=version, also="-offset:orders-0 -group")
    s.join("m1", version=3, error=PARKED)
    s.delete(version=3, error=68, also="")
    s.other("h").delete(version=3, error=69)
    s.other("").delete(version=3, error=69)


@story()
def a_deleted_name_can_be_used_again(s: Script) -> None:
    """The new group starts with generation 1 and without offsets."""
    s.form("m1")
    s.commit("orders-0=1", member="m1", generation=1)
    s.leave("m1")
    s.delete()
    s.join("m1", error=25, also="")
    s.join("m2", error=79, also="+group")
    s.join("m2", error=PARKED)
    s.at(6_000, "JoinGroup=0")
    s.sync("m2", 1, {"m2": b"all"})
    s.fetch("orders-0")


@story()
def deleting_a_group_of_pending_members(s: Script) -> None:
    """A group that only gave out ids is Empty; the ids die with it."""
    s.join("m1", error=79)
    s.delete(also="-group")
    s.join("m1", error=25)
    s.at(10_000)
    s.look()


@story()
def deleted_groups_leave_no_deadlines(s: Script) -> None:
    """What was due in the old group does not happen in the new one."""
    s.join("m1", error=79)
    s.at(1_000)
    s.delete()
    s.join("m2", session=6_000, error=79)
    s.at(6_999)
    s.join("m2", session=6_000, error=PARKED)
    s.at(9_999, "JoinGroup=0")
    s.at(10_000)
    s.heartbeat("m2", 1)


@story()
def offsets_of_a_simple_group_are_deleted(s: Script) -> None:
    """KIP-496, testGenericGroupOffsetDelete: a tombstone each; what is not there gives no error."""
    s.commit("orders-0=1", "orders-1=1", "audit-0=1")
    s.at(5)
    s.delete_offsets("orders-0", "orders-7", "nope-0", also="-offset:orders-0")
    s.delete_offsets("orders-0", also="")
    s.fetch()
    s.delete_offsets("orders-1", "audit-0", also="-offset:orders-1 -offset:audit-0")
    s.look()


@story()
def offset_deletion_is_refused(s: Script) -> None:
    """testGenericGroupOffsetDeleteWithErrors: unknown group, no group."""
    s.delete_offsets("orders-0", error=69, also="")
    s.other("").delete_offsets("orders-0", error=24, also="")
    s.send("OffsetDelete", 1, {"groupId": "g", "topics": []}, error=35)
    s.send("OffsetDelete", 0, {"groupId": "g", "topics": []}, error=69)
    s.commit("orders-0=1")
    s.send("OffsetDelete", 0, {"groupId": "g", "topics": []}, also="")
    s.cluster("orders:1")
    s.delete_offsets("orders-0", "orders-1", "nope-0", error=(0, 0, 3, 3), also="-offset:orders-0")
    s.delete_offsets("nope-0", error=(0, 3), also="")
    empty = [{"name": name, "partitions": []} for name in ("nope", "orders")]
    s.send("OffsetDelete", 0, {"groupId": "g", "topics": empty}, also="")


@story()
def a_live_group_keeps_the_offsets_of_its_topics(s: Script) -> None:
    """KIP-496: GROUP_SUBSCRIBED_TO_TOPIC for subscribed topics, the others may go."""
    s.form("m1", "m2")
    s.commit("orders-0=1", "audit-0=1", "audit-1=1", member="m1", generation=1)
    s.delete_offsets("orders-0", error=(0, 86), also="")
    s.delete_offsets(
        "audit-0", "orders-0", "orders-5", error=(0, 0, 86, 86), also="-offset:audit-0"
    )
    s.fetch()
    s.leave("m1", "m2")
    s.delete_offsets("orders-0", also="-offset:orders-0")


@story()
def a_live_group_of_another_kind_keeps_all_offsets(s: Script) -> None:
    """Kafka cannot read the subscriptions of e.g. Connect: NON_EMPTY_GROUP for the whole request."""
    s.join("m1", version=3, protocol_type="connect", protocols={"v1": b"?"}, error=PARKED)
    s.at(3_000, "JoinGroup=0")
    s.sync("m1", 1, {"m1": b"all"}, protocol_type="connect", protocol="v1")
    s.commit("status-0=1", member="m1", generation=1)
    s.delete_offsets("status-0", "other-0", error=68, also="")
    s.leave("m1")
    s.delete_offsets("status-0", also="-offset:status-0")


@story()
def unsubscribing_makes_offsets_deletable(s: Script) -> None:
    """The union of all members' topics counts, as of the last generation."""
    s.join("m1", version=3, topics="orders audit", error=PARKED)
    s.join("m2", version=3, topics="orders", error=PARKED)
    s.at(3_000)
    s.at(6_000, "JoinGroup=0 JoinGroup=0")
    s.delete_offsets("audit-0", "billing-0", error=(0, 86, 0))
    s.sync_all("m1", "m2", generation=1)
    s.commit("orders-0=1", "audit-0=1", "audit-1=2", member="m1", generation=1)
    s.delete_offsets("audit-0", error=(0, 86))
    s.join("m1", version=3, topics="orders billing", error=PARKED)
    s.delete_offsets("audit-0", error=(0, 86))
    s.delete_offsets("billing-0")
    s.join("m2", version=3, topics="orders", also="JoinGroup=0")
    s.delete_offsets("audit-0", "billing-0", error=(0, 0, 86), also="-offset:audit-0")
    s.sync_all("m1", "m2", generation=2)
    s.delete_offsets("audit-1", also="-offset:audit-1")


@story()
def the_first_rebalance_knows_no_subscription(s: Script) -> None:
    """Before its first generation is there, a "consumer" group counts as subscribed to everything."""
    s.commit("orders-0=1")
    s.join("m1", version=3, error=PARKED)
    s.delete_offsets("orders-0", "audit-0", error=(0, 86, 86), also="")


@story()
def deletion_after_the_last_member_left(s: Script) -> None:
    """An Empty group is subscribed to nothing; nor is it while its next generation forms."""
    s.form("m1")
    s.commit("orders-0=1", "orders-1=1", member="m1", generation=1)
    s.at(13_000, "+group")
    s.delete_offsets("orders-0", also="-offset:orders-0")
    s.join("m2", version=3, error=PARKED)
    s.delete_offsets("orders-1", also="-offset:orders-1")


@story()
def the_version_of_a_subscription_does_not_matter(s: Script) -> None:
    """KIP-496: it is parsed as version 0 whatever it says; what follows is ignored."""
    user_data = b"\x00\x00\x00\x03abc"
    protocols = {
        "v0": {"range": subscription("orders", version=0)},
        "v1": {"range": subscription("orders", version=1, tail=user_data + b"\x00\x00\x00\x00")},
        "v3": {"range": subscription("orders", version=3, tail=user_data + b"and more")},
        "v99": {"range": subscription("orders", version=99)},
        "v-1": {"range": subscription("orders", version=65_535)},
        "odd user data": {"range": subscription("orders", tail=b"\xff\xff\xff\xfe")},
        "twice": {"range": subscription("orders", "orders")},
        "with a name of no text": {"range": subscription("x", "orders").replace(b"x", b"\xff")},
    }
    for name, protocol in protocols.items():
        s.other(name).join(f"m-{name}", version=3, protocols=protocol, error=PARKED)
    s.at(3_000, " ".join(["JoinGroup=0"] * len(protocols)))
    for name in protocols:
        s.other(name).sync(f"m-{name}", 1, {f"m-{name}": b"all"})
        s.other(name).delete_offsets("orders-0", "audit-0", error=(0, 86, 0))


@story()
def unreadable_subscriptions_protect_everything(s: Script) -> None:
    """Empty or truncated bytes: the group counts as subscribed to every topic."""
    whole = subscription("orders", "audit")
    unreadable = {
        "empty": b"",
        "one byte": whole[:1],
        "version only": whole[:2],
        "half a count": whole[:4],
        "one of two": whole[:14],
        "no user data": whole[:-4],
        "half of it": whole[:-2],
    }
    for name, metadata in unreadable.items():
        s.other(name).join(f"m-{name}", version=3, protocols={"range": metadata}, error=PARKED)
    s.at(3_000, " ".join(["JoinGroup=0"] * len(unreadable)))
    for name in unreadable:
        s.other(name).delete_offsets("orders-0", "other-0", error=(0, 86, 86))


@story()
def lengths_beyond_the_end_protect_everything(s: Script) -> None:
    """testComputeSubscribedTopicsHandlesMalformedMemberMetadata: the rebalance ends, and what is wished is not known."""
    beyond = {
        "no list": b"\0\1\xff\xff\xff\xff",
        "five topics": b"\0\1\0\0\0\5",
        "two thousand million topics": b"\0\1\x7f\xff\xff\xff",
        "a name of five letters": b"\0\1\0\0\0\1\0\5a",
    }
    for name, metadata in beyond.items():
        s.other(name).join(f"m-{name}", version=3, protocols={"range": metadata}, error=PARKED)
    s.at(3_000, " ".join(["JoinGroup=0"] * len(beyond)))
    for name in beyond:
        s.other(name).delete_offsets("orders-0", error=(0, 86))


@story()
def an_unreadable_subscription_among_readable_ones(s: Script) -> None:
    """One member that cannot be read makes the whole group's topics unknown."""
    s.join("m1", version=3, topics="orders", error=PARKED)
    s.join("m2", version=3, protocols={"range": b""}, error=PARKED)
    s.at(3_000)
    s.at(6_000, "JoinGroup=0 JoinGroup=0")
    s.sync_all("m1", "m2", generation=1)
    s.commit("audit-0=1", member="m1", generation=1)
    s.delete_offsets("audit-0", error=(0, 86))
    s.leave("m2")
    s.delete_offsets("audit-0", error=(0, 86))
    s.join("m1", version=3, topics="orders", also="")
    s.delete_offsets("audit-0", also="-offset:audit-0")
