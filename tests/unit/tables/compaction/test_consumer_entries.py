"""Consumer groups' records (KIP-848), as the stateful function logs them, become rows of groups and members."""

from __future__ import annotations

from msgspec import structs, to_builtins

from group_coordinator.core.model.classic_member import Protocol
from group_coordinator.core.model.consumer_member import (
    ClassicMetadata,
    CurrentAssignment,
    GroupEpoch,
    ReconciliationState,
    ResolvedRegex,
    SubscriptionMetadata,
    TargetEpoch,
)
from group_coordinator.core.model.records import (
    ConfigRecord,
    CurrentRecord,
    GroupEpochRecord,
    GroupRecord,
    MemberRecord,
    PartitionMetadataTombstone,
    Reason,
    Record,
    RegexRecord,
    TargetEpochRecord,
    TargetRecord,
)
from group_coordinator.core.model.requests import Topic
from group_coordinator.tables.compaction.rows import (
    AssignedPartition,
    OwnedPartition,
    ResolvedPattern,
    StoredLogEntry,
    TargetPartition,
)
from tests.support.log_rows import Log, member
from tests.unit.tables.compaction.test_apply_entries import Tables, entries

ORDERS, PAY = "4ksO1bcLSgCStYJnTlCVLg", "AAAAAAAAAAAAAAAAAAAAAQ"
TOPICS = {"orders": Topic("orders", ORDERS, 3)}
JOIN = Reason.HEARTBEAT
A = SubscriptionMetadata(
    group_instance_id="i",
    rack_id="rack-1",
    client_id="client",
    client_host="/10.0.0.1",
    topic_names=("orders",),
    topic_regex=None,
    rebalance_timeout_ms=1_000,
    server_assignor="range",
    classic=None,
)
B = A.replace(
    group_instance_id=None,
    rack_id=None,
    client_host="/10.0.0.2",
    topic_names=(),
    topic_regex="pay.*",
    rebalance_timeout_ms=2_000,
    server_assignor=None,
)


def log_of(
    *found: Record, at_ms: int = 0, batch_id: int = 0, topics: dict[str, Topic] | None = None
) -> list[StoredLogEntry]:
    """Rows as the job logs them, all of one moment, while the group knows these topics."""
    log = Log(batch_id)
    for record in found:
        log.record("g", record, TOPICS if topics is None else topics)
    return [structs.replace(entry, event_time=at_ms) for entry in entries(log)]


def current(
    epoch: int,
    assigned: dict[str, dict[int, int]],
    pending: dict[str, dict[int, int]] | None = None,
    state: ReconciliationState = ReconciliationState.STABLE,
) -> CurrentAssignment:
    return CurrentAssignment(epoch, epoch - 1, state, assigned, pending or {})


JOINED = (
    MemberRecord("a", A, JOIN),
    GroupEpochRecord(GroupEpoch(2, -77), JOIN),
    TargetRecord("a", {ORDERS: (0, 1)}, JOIN),
    TargetEpochRecord(TargetEpoch(2, 1_000), JOIN),
    CurrentRecord("a", current(2, {ORDERS: {0: 2, 1: 2}}), JOIN),
)


def joined() -> Tables:
    tables = Tables()
    tables.take_entries(log_of(*JOINED, at_ms=1_000, batch_id=4))
    return tables


def owned(topic: str, topic_id: str, *partitions: tuple[int, int]) -> list[OwnedPartition]:
    return [OwnedPartition(topic, topic_id, partition, epoch) for partition, epoch in partitions]


def test_a_member_joins_and_has_its_partitions() -> None:
    tables = joined()

    assert to_builtins(tables.group) == {
        "cluster_id": "c",
        "group_id": "g",
        "group_type": "consumer",
        "state": "Stable",
        "protocol_type": "consumer",
        "protocol": "range",
        "generation_or_epoch": 2,
        "leader": None,
        "member_count": 1,
        "offset_count": 0,
        "empty_since": None,
        "next_expiration": None,
        "updated_at": 1_000,
        "batch_id": 4,
        "expiration_base": "commit",
        "protected_topics": ["orders"],
        "assignment_epoch": 2,
        "assignment_timestamp": 1_000,
        "metadata_hash": -77,
        "resolved_regexes": [],
        "records": None,
    }
    assert to_builtins(tables.rows.members) == {
        "a": {
            "cluster_id": "c",
            "group_id": "g",
            "member_id": "a",
            "group_instance_id": "i",
            "client_id": "client",
            "client_host": "/10.0.0.1",
            "session_timeout_ms": None,
            "rebalance_timeout_ms": 1_000,
            "subscribed_topics": ["orders"],
            "assigned_partitions": [
                {"topic": "orders", "partition": 0},
                {"topic": "orders", "partition": 1},
            ],
            "member_epoch": 2,
            "updated_at": 1_000,
            "batch_id": 4,
            "member_type": "consumer",
            "rack_id": "rack-1",
            "subscribed_regex": None,
            "server_assignor": "range",
            "previous_member_epoch": 1,
            "member_state": "STABLE",
            "current_assignment": [
                {"topic": "orders", "topic_id": ORDERS, "partition": 0, "assignment_epoch": 2},
                {"topic": "orders", "topic_id": ORDERS, "partition": 1, "assignment_epoch": 2},
            ],
            "pending_revocation": [],
            "target_assignment": [
                {"topic": "orders", "topic_id": ORDERS, "partition": 0},
                {"topic": "orders", "topic_id": ORDERS, "partition": 1},
            ],
            "has_user_data": None,
        }
    }


def test_a_rebalance_in_the_next_stretch_goes_on_from_the_rows() -> None:
    tables = joined()

    tables.take_entries(
        log_of(
            MemberRecord("b", B, JOIN),
            CurrentRecord("b", current(2, {}), JOIN),
            RegexRecord("pay.*", ResolvedRegex(("pay",), 7, 2_000), JOIN),
            GroupEpochRecord(GroupEpoch(3, -78), JOIN),
            at_ms=2_000,
            batch_id=5,
        )
    )
    assert tables.group.state == "Assigning"
    assert tables.group.protected_topics == ["orders", "pay"]
    assert tables.group.resolved_regexes == [ResolvedPattern("pay.*", ["pay"], 7, 2_000)]

    revoking = current(
        2, {ORDERS: {0: 2}}, {ORDERS: {1: 2}}, ReconciliationState.UNREVOKED_PARTITIONS
    )
    tables.take_entries(
        log_of(
            TargetRecord("a", {ORDERS: (0,)}, JOIN),
            TargetRecord("b", {ORDERS: (1,)}, JOIN),
            TargetEpochRecord(TargetEpoch(3, 3_000), JOIN),
            CurrentRecord("a", revoking, JOIN),
            at_ms=3_000,
            batch_id=6,
        )
    )
    assert tables.group.state == "Reconciling"
    assert (tables.group.generation_or_epoch, tables.group.assignment_epoch) == (3, 3)
    a, b = tables.rows.members["a"], tables.rows.members["b"]
    assert a.member_state == "UNREVOKED_PARTITIONS"
    assert a.assigned_partitions == [AssignedPartition("orders", 0)]
    assert a.pending_revocation == owned("orders", ORDERS, (1, 2))
    assert (a.updated_at, a.batch_id) == (3_000, 6)
    assert b.target_assignment == [TargetPartition("orders", ORDERS, 1)]
    assert b.subscribed_regex == "pay.*"


def test_a_group_is_empty_since_its_last_member_left_also_when_that_is_read_once_more() -> None:
    """The member that leaves last is no row any more when the other comes and goes once more."""
    tables = joined()
    left = (
        *log_of(MemberRecord("b", B, JOIN), at_ms=2_000, batch_id=5),
        *log_of(MemberRecord("b", None, Reason.LEAVE), at_ms=3_000, batch_id=6),
        *log_of(MemberRecord("a", None, Reason.LEAVE), at_ms=4_000, batch_id=7),
    )
    tables.take_entries([*left])
    assert tables.group.empty_since == 4_000

    assert tables.take_entries([*left]) == []


def test_only_the_row_of_the_member_that_changed_is_written() -> None:
    tables = joined()
    tables.take_entries(log_of(MemberRecord("b", B, JOIN), at_ms=2_000))
    moved = A.replace(client_host="/10.0.0.9")
    changes = tables.take_entries(log_of(MemberRecord("a", moved, JOIN), at_ms=3_000))
    assert [(change.table, change.row) for change in changes] == [
        ("members", tables.rows.members["a"])
    ]


def test_a_topic_that_is_gone_keeps_its_name_and_one_that_nobody_named_has_its_id() -> None:
    tables = joined()
    left = current(3, {ORDERS: {0: 2}, PAY: {0: 3}})
    tables.take_entries(log_of(CurrentRecord("a", left, JOIN), at_ms=2_000, topics={}))
    assert tables.rows.members["a"].assigned_partitions == [
        AssignedPartition("orders", 0),
        AssignedPartition(PAY, 0),
    ]


def test_commits_name_topics_too() -> None:
    tables = Tables()
    log = Log()
    log.commit("g", "pay", 0, 42, topicId=PAY)
    tables.take(log)
    held = CurrentRecord("a", current(2, {PAY: {0: 2}}), JOIN)
    tables.take_entries(log_of(MemberRecord("a", A, JOIN), held, at_ms=2_000, batch_id=1))
    assert tables.rows.members["a"].assigned_partitions == [AssignedPartition("pay", 0)]


def test_the_last_member_leaves_and_offsets_age_by_their_commits_all_the_time() -> None:
    tables = joined()
    log = Log(now_ms=2_000, batch_id=5)
    log.commit("g", "orders", 0, 42)
    log.commit("g", "pay", 0, 42)
    tables.take(log)
    assert tables.expires_at("orders") is None
    assert tables.expires_at("pay") == 70_000

    left = (
        CurrentRecord("a", None, Reason.LEAVE),
        TargetRecord("a", None, Reason.LEAVE),
        MemberRecord("a", None, Reason.LEAVE),
        GroupEpochRecord(GroupEpoch(3), Reason.LEAVE),
    )
    tables.take_entries(log_of(*left, at_ms=8_000, batch_id=6))
    assert tables.rows.members == {}
    assert (tables.group.state, tables.group.empty_since) == ("Empty", 8_000)
    assert tables.group.group_type == "consumer"
    assert tables.expires_at("orders") == 70_000

    tables.take_entries(log_of(GroupEpochRecord(GroupEpoch(4), JOIN), at_ms=9_000, batch_id=7))
    assert tables.group.empty_since == 8_000

    ended = (
        TargetEpochRecord(None, Reason.GROUP_DELETED),
        PartitionMetadataTombstone(Reason.GROUP_DELETED),
        GroupEpochRecord(None, Reason.GROUP_DELETED),
    )
    tables.take_entries(log_of(*ended, at_ms=9_500, batch_id=8))
    assert tables.rows.group is None
    assert sorted(tables.rows.offsets) == [("orders", 0), ("pay", 0)]


def test_a_classic_group_is_upgraded_and_downgraded() -> None:
    tables = Tables()
    log = Log(now_ms=1_000)
    log.group("g", [member("a", ["orders"], {"orders": [0]})])
    log.commit("g", "orders", 0, 42)
    tables.take(log)
    assert tables.group.group_type == "classic"

    classic = A.replace(classic=ClassicMetadata(45_000, (Protocol("range", b""),)))
    upgrade = (
        GroupRecord(None, Reason.UPGRADE),
        MemberRecord("a", classic, Reason.UPGRADE),
        GroupEpochRecord(GroupEpoch(1), Reason.UPGRADE),
        TargetRecord("a", {ORDERS: (0,)}, Reason.UPGRADE),
        TargetEpochRecord(TargetEpoch(1), Reason.UPGRADE),
        CurrentRecord("a", current(1, {ORDERS: {0: 1}}), Reason.UPGRADE),
    )
    tables.take_entries(log_of(*upgrade, at_ms=3_000, batch_id=1))
    assert (tables.group.group_type, tables.group.state) == ("consumer", "Stable")
    assert tables.group.assignment_timestamp is None
    a = tables.rows.members["a"]
    assert (a.member_type, a.session_timeout_ms, a.member_epoch) == ("classic", 45_000, 1)
    assert sorted(tables.rows.offsets) == [("orders", 0)]

    downgrade = (
        CurrentRecord("a", None, Reason.DOWNGRADE),
        TargetRecord("a", None, Reason.DOWNGRADE),
        TargetEpochRecord(None, Reason.DOWNGRADE),
        MemberRecord("a", None, Reason.DOWNGRADE),
        PartitionMetadataTombstone(Reason.DOWNGRADE),
        GroupEpochRecord(None, Reason.DOWNGRADE),
    )
    log = Log(now_ms=5_000, batch_id=2)
    log.group("g", [member("a", ["orders"], {"orders": [0]})])
    [group_again] = entries(log)
    tombstones = log_of(*downgrade, at_ms=5_000, batch_id=2)
    tables.take_entries([*tombstones, structs.replace(group_again, seq=len(tombstones))])
    assert (tables.group.group_type, tables.group.state) == ("classic", "Stable")
    a = tables.rows.members["a"]
    assert (a.member_type, a.member_epoch) == (None, None)


def test_a_log_is_read_once_more_after_the_downgrade_at_its_end() -> None:
    """As by a compaction query that has lost its checkpoint: its first records are those of a consumer group."""
    tables = Tables()
    log = Log(now_ms=5_000, batch_id=2)
    log.group("g", [member("a", ["orders"], {"orders": [0]})])
    gone = log_of(GroupEpochRecord(None, Reason.DOWNGRADE), at_ms=4_000, batch_id=1)
    whole = [*log_of(*JOINED, at_ms=1_000), *gone, *entries(log)]
    tables.take_entries(whole)

    assert tables.take_entries(whole) == []
    assert tables.group.group_type == "classic"


def test_a_tombstone_for_a_consumer_group_that_is_not_there_leaves_a_classic_one_alone() -> None:
    tables = Tables()
    log = Log()
    log.commit("g", "orders", 0, 42)
    tables.take(log)
    assert tables.take_entries(log_of(GroupEpochRecord(None, JOIN), at_ms=1_000)) == []
    assert tables.group.group_type == "classic"


def test_a_groups_retention_moves_the_forecasts_of_topics_without_subscribers() -> None:
    tables = Tables()
    log = Log()
    log.commit("g", "orders", 0, 42)
    log.commit("g", "pay", 0, 42)
    tables.take(log)
    tables.take_entries(log_of(MemberRecord("a", A, JOIN), GroupEpochRecord(GroupEpoch(1), JOIN)))
    record = ConfigRecord("offsets.retention.ms", "20000", Reason.CONFIG)

    tables.take_entries(log_of(record, at_ms=5_000, batch_id=1))

    assert tables.expires_at("orders") is None
    assert tables.expires_at("pay") == tables.group.next_expiration == 30_000
