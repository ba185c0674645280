"""OffsetCommit: who may commit what, when, and what is written."""

from __future__ import annotations

from tests.conformance.language.lines import PARKED
from tests.conformance.language.script import Script
from tests.conformance.language.story import story

_NO_PARTITIONS = [{"name": name, "partitions": []} for name in ("nope", "orders")]


@story()
def a_simple_group_is_made_by_a_commit(s: Script) -> None:
    """testSimpleGroupOffsetCommit: an unknown group and generation -1, no group record."""
    s.at(1_000)
    s.commit(
        "orders-0=42",
        "orders-1=7",
        "audit-0=1",
        also="+offset:orders-0 +offset:orders-1 +offset:audit-0",
    )
    s.fetch()
    s.look()
    s.describe()


@story()
def commits_of_all_versions(s: Script) -> None:
    """What is answered and written, version by version, for a simple group."""
    for version in range(2, 10):
        s.other(f"g{version}").commit(
            "orders-0=5", version=version, leader_epoch=3, metadata="m", also="+offset:orders-0"
        )
    s.send("OffsetCommit", 11, {"groupId": "g"}, error=35)
    s.send("OffsetCommit", 8, {"groupId": "g", "topics": []}, also="")
    s.look()


@story()
def retention_in_the_request(s: Script) -> None:
    """KIP-211: v2 to v4 carry a retention time; the record is then of version 1."""
    s.at(1_000)
    s.commit("orders-0=5", version=2, retention=5_000)
    s.commit("orders-1=5", version=3, retention=0)
    s.commit("orders-2=5", version=4, retention=-1)
    s.commit("orders-3=5", version=4, retention=86_400_000, metadata="kept for a day")
    s.commit("orders-4=5", version=2)
    s.fetch()


@story()
def metadata_has_a_limit_in_characters(s: Script) -> None:
    """offset.metadata.max.bytes counts Java's chars; only the partition in question is refused."""
    s.commit("orders-0=1", metadata="x" * 4_096)
    s.commit("orders-1=1", metadata="x" * 4_097, error=12, also="")
    s.commit("orders-2=1", metadata="é" * 4_096)
    s.commit("orders-3=1", metadata="\N{PARTY POPPER}" * 2_048)
    s.commit("orders-4=1", metadata="\N{PARTY POPPER}" * 2_048 + "x", error=12, also="")
    s.commit("orders-5=1", metadata=None)
    s.fetch("orders-5", "orders-4")
    topics = [
        {
            "name": "orders",
            "partitions": [
                {"partitionIndex": 6, "committedOffset": 1, "committedMetadata": "x" * 4_097},
                {"partitionIndex": 7, "committedOffset": 1, "committedMetadata": "x"},
            ],
        }
    ]
    body = {"groupId": "g", "topics": topics}
    s.send("OffsetCommit", 8, body, error=(12, 0), also="+offset:orders-7")


@story(offset_metadata_max_bytes=3)
def the_metadata_limit_is_a_setting(s: Script) -> None:
    """With a limit of 3."""
    s.commit("orders-0=1", metadata="abc")
    s.commit("orders-0=2", metadata="abcd", error=12)


@story()
def a_commit_of_which_nothing_is_taken_makes_a_group(s: Script) -> None:
    """Kafka shows it as soon as anything else is written; the next sweep buries it."""
    s.commit("orders-0=1", metadata="x" * 4_097, error=12, also="")
    s.other("h").commit("orders-0=1")
    s.look()
    s.describe()
    s.at(600_000, "-group")
    s.look()


@story()
def any_offset_may_be_committed(s: Script) -> None:
    """No check against the log: regressions, negative offsets, odd leader epochs."""
    s.commit("orders-0=100", leader_epoch=5)
    s.commit("orders-0=1", leader_epoch=-1)
    s.commit("orders-0=-1")
    s.commit("orders-0=-2", leader_epoch=-7)
    s.commit("orders-0=-9223372036854775808")
    s.commit("orders-0=9223372036854775807", leader_epoch=2147483647)
    s.fetch("orders-0")


@story()
def one_partition_twice_in_a_request(s: Script) -> None:
    """Both are written, in order; the last one stays."""
    s.commit("orders-0=1", "orders-0=2", also="+offset:orders-0 +offset:orders-0")
    s.fetch("orders-0")


@story()
def a_generation_without_a_group(s: Script) -> None:
    """testOffsetCommitWithUnknownGroup: ILLEGAL_GENERATION, from v9 on GROUP_ID_NOT_FOUND."""
    s.commit("orders-0=1", generation=0, version=8, error=22)
    s.commit("orders-0=1", generation=5, member="m", version=2, error=22)
    s.commit("orders-0=1", generation=0, version=9, error=69)
    s.look()
    s.commit("orders-0=1")
    s.commit("orders-0=2", generation=0, version=9, error=25)
    s.fetch("orders-0")


@story()
def commits_to_a_stable_group(s: Script) -> None:
    """testGenericGroupOffsetCommitWithUnknownMemberId, -WithIllegalGeneration, -WithoutMemberId."""
    s.form("m1")
    s.commit("orders-0=1", "orders-1=1", error=25, also="")
    s.commit("orders-0=1", member="nobody", generation=1, error=25)
    s.commit("orders-0=1", member="nobody", error=25)
    s.commit("orders-0=1", member="m1", generation=0, error=22)
    s.commit("orders-0=1", member="m1", generation=2, version=9, error=22)
    s.commit("orders-0=1", member="m1", generation=-1, error=22)
    s.commit("orders-0=1", member="", generation=1, error=25)
    s.commit("orders-0=1", instance="i1", error=25)
    s.fetch("orders-0")
    s.commit("orders-0=1", member="m1", generation=1, also="+offset:orders-0")
    s.fetch("orders-0")


@story()
def commits_during_a_rebalance(s: Script) -> None:
    """PreparingRebalance takes them, CompletingRebalance answers REBALANCE_IN_PROGRESS."""
    s.form("m1", "m2")
    s.join("m1", error=PARKED)
    s.commit("orders-0=1", member="m2", generation=1, also="+offset:orders-0")
    s.commit("orders-0=2", member="m1", generation=1, also="+offset:orders-0")
    s.commit("orders-0=3", error=25)
    s.join("m2", also="JoinGroup=0")
    s.commit("orders-0=4", member="m1", generation=2, error=27)
    s.commit("orders-0=4", member="m1", generation=1, error=22)
    s.commit("orders-0=4", error=25)
    s.sync("m1", 2, {"m1": b"all"})
    s.commit("orders-0=5", member="m2", generation=2)
    s.fetch("orders-0")


@story()
def a_commit_in_preparing_rebalance_keeps_the_session(s: Script) -> None:
    """The member that the others wait for keeps itself alive by committing."""
    s.form("m1", "m2")
    s.join("m1", error=PARKED)
    s.at(12_000)
    s.commit("orders-0=1", member="m2", generation=1)
    s.at(21_999)
    s.at(22_000, "JoinGroup=0")


@story()
def commits_to_an_empty_group(s: Script) -> None:
    """Administrators may, with generation -1, whatever the member id; members of old may not."""
    s.form("m1")
    s.leave("m1")
    s.commit("orders-0=1", also="+offset:orders-0")
    s.commit("orders-0=2", member="anybody", also="+offset:orders-0")
    s.commit("orders-0=3", instance="i1", also="+offset:orders-0")
    s.commit("orders-0=4", member="m1", generation=1, error=25)
    s.commit("orders-0=4", member="m1", generation=2, error=25)
    s.commit("orders-0=4", member="", generation=2, error=25)
    s.commit("orders-0=5", member="m1", generation=-2, also="+offset:orders-0")


@story()
def a_simple_group_turns_into_a_real_one(s: Script) -> None:
    """No group record is written at the join; the offsets stay through all of it."""
    s.commit("orders-0=1")
    s.join("m1", error=79, also="")
    s.join("m1", error=PARKED, also="")
    s.commit("orders-0=2", error=25)
    s.at(3_000, "JoinGroup=0")
    s.sync("m1", 1, {"m1": b"all"}, also="+group")
    s.fetch("orders-0")
    s.commit("orders-0=3", error=25)
    s.leave("m1", also="+group")
    s.commit("orders-0=4", also="+offset:orders-0")
    s.describe()


@story()
def commits_without_a_correlation_id(s: Script) -> None:
    """No answer is wanted, good or bad; the offset is written all the same."""
    quiet = s.silent()
    quiet.commit("orders-0=1", also="+offset:orders-0")
    quiet.commit("orders-0=1", generation=3, member="m", also="")
    s.fetch("orders-0")


@story()
def odd_group_ids_may_commit(s: Script) -> None:
    """Group ids "" and " " exist in practice."""
    nameless = s.other("")
    nameless.commit("orders-0=1", also="+offset:orders-0")
    nameless.fetch("orders-0")
    nameless.describe()
    s.other(" ").commit("orders-0=2", also="+offset:orders-0")
    s.other("gruppe-ä\N{PARTY POPPER}").commit("thème-0=2", also="+offset:thème-0")


@story()
def topics_must_exist_where_they_are_known(s: Script) -> None:
    """UNKNOWN_TOPIC_OR_PARTITION by partition; the known ones carry their topic's id."""
    s.cluster("orders:2", "audit:1")
    s.commit("orders-0=1", "orders-2=1", "nope-0=1", "audit-0=1", error=(0, 3, 3, 0))
    s.commit("nope-0=1", error=3, also="")
    s.commit("orders-2=1", version=9, error=3, also="")
    s.send("OffsetCommit", 9, {"groupId": "g", "topics": _NO_PARTITIONS}, also="")
    s.fetch()
    s.other("h").commit("nope-0=1", "orders-5=1", error=3, also="")
    s.other("h").look()


@story()
def commits_by_topic_id(s: Script) -> None:
    """KIP-848's v10: topics go by id, an unknown one gives UNKNOWN_TOPIC_ID."""
    s.cluster("orders:2", "audit:1")
    s.commit("orders-0=1", "audit-0=2", version=10, also="+offset:orders-0 +offset:audit-0")
    s.commit("nope-0=1", version=10, error=100, also="")
    s.commit("orders-1=1", "nope-0=1", version=10, error=(0, 100))
    s.commit("orders-2=1", version=10, error=3, also="")
    s.commit("orders-0=1", version=10, generation=3, error=25)
    s.other("h").commit("orders-0=1", version=10, generation=3, error=69)
    s.fetch("orders-0", "orders-1", "audit-0", version=10)
    s.fetch(version=10)


@story()
def an_instance_id_alone_makes_a_simple_group(s: Script) -> None:
    """testSimpleGroupOffsetCommitWithInstanceId: it is not looked at."""
    s.commit("orders-0=1", instance="i1", also="+offset:orders-0")
    s.commit("orders-0=2", instance="i2", member="anybody", also="+offset:orders-0")
    s.fetch("orders-0")


@story()
def a_commit_of_nothing(s: Script) -> None:
    """KafkaApis asks the coordinator only if a partition is left: no group comes of a topic without any."""
    s.send("OffsetCommit", 8, {"groupId": "g", "topics": []})
    s.send("OffsetCommit", 8, {"groupId": "g", "topics": [{"name": "orders", "partitions": []}]})
    nothing = {"transactionalId": "t", "groupId": "g", "producerId": 17, "producerEpoch": 0}
    topics = [{"name": "orders", "partitions": []}]
    s.send("TxnOffsetCommit", 3, {**nothing, "topics": topics})
    s.look()
