"""The bytes of consumer groups' messages; the literals were written by Kafka 4.4.0's own classes, the blanks are ours."""

from __future__ import annotations

import pytest
from hypothesis import given

from group_coordinator.codecs.offsets_topic import decode, encode
from group_coordinator.core.embedded_protocol import encode_subscription
from group_coordinator.core.model.classic_member import Protocol
from group_coordinator.core.model.consumer_member import (
    NO_METADATA,
    ClassicMetadata,
    CurrentAssignment,
    GroupEpoch,
    ReconciliationState,
    ResolvedRegex,
    SubscriptionMetadata,
    TargetEpoch,
)
from group_coordinator.core.model.records import (
    ConsumerRecord,
    CurrentRecord,
    GroupEpochRecord,
    MemberRecord,
    PartitionMetadataTombstone,
    Reason,
    RegexRecord,
    TargetEpochRecord,
    TargetRecord,
)
from tests.unit.codecs import consumer_strategies, strategies

MIRRORED = Reason.MIRRORED
ORDERS_ID = "4ksO1bcLSgCStYJnTlCVLg"
ORDERS = "e24b0ed5b70b4a0092b582674e50952e"
STATIC = SubscriptionMetadata(
    group_instance_id="i",
    rack_id="r",
    client_id="c",
    client_host="/h",
    topic_names=("orders", "pay"),
    topic_regex=None,
    rebalance_timeout_ms=1_000,
    server_assignor="range",
    classic=None,
)
BY_REGEX = NO_METADATA.replace(
    client_id="c", client_host="/h", topic_regex="o.*", rebalance_timeout_ms=-1
)
RANGE = Protocol("range", encode_subscription(["orders"]))
CLASSIC = BY_REGEX.replace(
    topic_names=("orders",),
    topic_regex=None,
    rebalance_timeout_ms=5_000,
    classic=ClassicMetadata(10_000, (RANGE,)),
)
REVOKING = CurrentAssignment(
    4, 3, ReconciliationState.UNREVOKED_PARTITIONS, {ORDERS_ID: {0: 3, 2: 4}}, {ORDERS_ID: {1: 3}}
)
CASES: dict[str, tuple[ConsumerRecord, str, str]] = {
    "epoch": (GroupEpochRecord(GroupEpoch(5), MIRRORED), "0003 0001 67", "0000 00000005 00"),
    "epoch and hash": (
        GroupEpochRecord(GroupEpoch(5, -8151689491784040228), MIRRORED),
        "0003 0001 67",
        "0000 00000005 01 00 08 8edf6198c2ed80dc",
    ),
    "static member": (
        MemberRecord("m", STATIC, MIRRORED),
        "0005 0001 67 0001 6d",
        (
            "0000 02 69 02 72 02 63 03 2f68 03 07 6f7264657273 04 706179 01 000003e8 06 72616e6765"
            "01 00 01 00"
        ),
    ),
    "member with a pattern": (
        MemberRecord("m", BY_REGEX, MIRRORED),
        "0005 0001 67 0001 6d",
        "0000 00 00 02 63 03 2f68 01 04 6f2e2a ffffffff 00 01 00 01 00",
    ),
    "member of the classic protocol": (
        MemberRecord("m", CLASSIC, MIRRORED),
        "0005 0001 67 0001 6d",
        (
            "0000 00 00 02 63 03 2f68 02 07 6f7264657273 01 00001388 00"
            "01 00 21 01 00002710 02 06 72616e6765 13 00000000000100066f7264657273ffffffff 00 00"
        ),
    ),
    "target epoch of an upgrade": (
        TargetEpochRecord(TargetEpoch(4), MIRRORED),
        "0006 0001 67",
        "0000 00000004 00",
    ),
    "target epoch": (
        TargetEpochRecord(TargetEpoch(4, 1_000), MIRRORED),
        "0006 0001 67",
        "0000 00000004 01 00 08 00000000000003e8",
    ),
    "target": (
        TargetRecord("m", {ORDERS_ID: (0, 2)}, MIRRORED),
        "0007 0001 67 0001 6d",
        f"0000 02 {ORDERS} 03 00000000 00000002 00 00",
    ),
    "empty target": (TargetRecord("m", {}, MIRRORED), "0007 0001 67 0001 6d", "0000 01 00"),
    "current assignment": (
        CurrentRecord("m", REVOKING, MIRRORED),
        "0008 0001 67 0001 6d",
        (
            f"0000 00000004 00000003 01"
            f"02 {ORDERS} 03 00000000 00000002 01 00 09 03 00000003 00000004"
            f"02 {ORDERS} 02 00000001 01 00 05 02 00000003 00"
        ),
    ),
    "pattern": (
        RegexRecord("o.*", ResolvedRegex(("orders",), 7, 1_000), MIRRORED),
        "0010 0001 67 0003 6f2e2a",
        "0000 02 07 6f7264657273 0000000000000007 00000000000003e8 00",
    ),
}


@pytest.mark.parametrize(("record", "key", "value"), CASES.values(), ids=CASES)
def test_a_record_is_written_and_read_as_kafka_does(
    record: ConsumerRecord, key: str, value: str
) -> None:
    assert encode("g", record) == (bytes.fromhex(key), bytes.fromhex(value))
    assert decode(bytes.fromhex(key), bytes.fromhex(value)) == ("g", record)


@pytest.mark.parametrize(
    ("key", "record"),
    [
        ("0003 0001 67", GroupEpochRecord(None, MIRRORED)),
        ("0004 0001 67", PartitionMetadataTombstone(MIRRORED)),
        ("0005 0001 67 0001 6d", MemberRecord("m", None, MIRRORED)),
        ("0006 0001 67", TargetEpochRecord(None, MIRRORED)),
        ("0007 0001 67 0001 6d", TargetRecord("m", None, MIRRORED)),
        ("0008 0001 67 0001 6d", CurrentRecord("m", None, MIRRORED)),
        ("0010 0001 67 0003 6f2e2a", RegexRecord("o.*", None, MIRRORED)),
    ],
)
def test_a_tombstone(key: str, record: ConsumerRecord) -> None:
    assert encode("g", record) == (bytes.fromhex(key), None)
    assert decode(bytes.fromhex(key), None) == ("g", record)


@pytest.mark.parametrize("epochs", ["00", "01 00 01 00", "01 00 05 02 00000003"])
def test_what_older_brokers_wrote_has_no_epochs_of_partitions(epochs: str) -> None:
    value = f"0000 00000004 00000003 00 02 {ORDERS} 03 00000000 00000002 {epochs} 01 00"
    read = decode(bytes.fromhex("0008 0001 67 0001 6d"), bytes.fromhex(value))
    current = CurrentAssignment(4, 3, ReconciliationState.STABLE, {ORDERS_ID: {0: 4, 2: 4}}, {})
    assert read == ("g", CurrentRecord("m", current, MIRRORED))


def test_a_state_of_a_later_kafka_is_unknown() -> None:
    read = decode(
        bytes.fromhex("0008 0001 67 0001 6d"), bytes.fromhex("0000 00000004 00000003 4d 01 01 00")
    )
    current = CurrentAssignment(4, 3, ReconciliationState.UNKNOWN, {}, {})
    assert read == ("g", CurrentRecord("m", current, MIRRORED))


def test_what_older_brokers_kept_of_topics_counts_no_more() -> None:
    value = f"0000 02 {ORDERS} 07 6f7264657273 00000001 01 00 00"
    read = decode(bytes.fromhex("0004 0001 67"), bytes.fromhex(value))
    assert read == ("g", PartitionMetadataTombstone(MIRRORED))


def has_a_place_in_kafkas_json(record: ConsumerRecord) -> bool:
    """All but a member of the classic protocol that has nothing of it: Kafka's default is such a one, and no member is."""
    member = record.value if isinstance(record, MemberRecord) else None
    return member is None or member.classic != ClassicMetadata(0, ())


@given(consumer_strategies.consumer_records.filter(has_a_place_in_kafkas_json), strategies.names)
def test_a_record_comes_back_from_its_bytes(record: ConsumerRecord, group_id: str) -> None:
    assert decode(*encode(group_id, record)) == (group_id, record.replace(reason=MIRRORED))
