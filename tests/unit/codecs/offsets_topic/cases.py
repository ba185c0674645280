"""Messages of __consumer_offsets, written by Kafka 4.4.0's own classes; the blanks between the fields are ours."""

from __future__ import annotations

from typing import NamedTuple

from group_coordinator.core.model.classic_member import Protocol
from group_coordinator.core.model.records import GroupMetadata, MemberMetadata
from group_coordinator.core.model.topic_offsets import CommittedOffset

OFFSET_KEY = "0001 0001 67 0006 6f7264657273 00000002"
LEGACY_KEY = "0000 0001 67 0006 6f7264657273 00000002"
GROUP_KEY = "0002 0001 67"

ORDERS_ID = "4ksO1bcLSgCStYJnTlCVLg"
BARE = CommittedOffset(
    offset=42,
    leader_epoch=None,
    metadata="note",
    commit_timestamp_ms=1_000,
    expire_timestamp_ms=None,
    topic_id=None,
)
PLAIN = BARE.replace(metadata="")
KNOWN = BARE.replace(leader_epoch=3, topic_id=ORDERS_ID)
ODD = BARE.replace(offset=-1, leader_epoch=-2, metadata="é")
LONG = BARE.replace(metadata="a" * 200)
EXPIRING = KNOWN.replace(expire_timestamp_ms=6_000)

NEW = GroupMetadata(
    protocol_type="", generation=0, protocol=None, leader=None, state_timestamp_ms=1_000, members=()
)
OLD = NEW.replace(protocol_type="consumer", generation=5, state_timestamp_ms=None)
SUBSCRIPTION = bytes.fromhex("0000 00000001 0006 6f7264657273 ffffffff")
STATIC = MemberMetadata(
    member_id="m",
    group_instance_id="i",
    client_id="c",
    client_host="/h",
    rebalance_timeout_ms=20_000,
    session_timeout_ms=10_000,
    subscription=Protocol("range", SUBSCRIPTION),
    assignment=b"\x00\x01",
)
ONE = NEW.replace(
    protocol_type="consumer", generation=4, protocol="range", leader="m", members=(STATIC,)
)
NOT_FOR_US = STATIC.replace(subscription=Protocol("", SUBSCRIPTION))
DYNAMIC = STATIC.replace(
    member_id="n",
    group_instance_id=None,
    rebalance_timeout_ms=-1,
    subscription=Protocol("", b""),
    assignment=b"",
)
TWO = ONE.replace(protocol_type="connect", protocol="", leader="n", members=(NOT_FOR_US, DYNAMIC))


def without_instance_ids(group: GroupMetadata) -> GroupMetadata:
    members = tuple(member.replace(group_instance_id=None) for member in group.members)
    return group.replace(members=members)


def without_timestamp(group: GroupMetadata) -> GroupMetadata:
    return without_instance_ids(group).replace(state_timestamp_ms=None)


def without_rebalance_timeouts(group: GroupMetadata) -> GroupMetadata:
    members = tuple(
        member.replace(rebalance_timeout_ms=-1) for member in without_timestamp(group).members
    )
    return without_timestamp(group).replace(members=members)


Value = CommittedOffset | GroupMetadata


class Case(NamedTuple):
    """A value in one of its versions, and what there is of it for us."""

    data: str
    value: Value


CASES = [
    Case("0000 000000000000002a 0000 00000000000003e8", PLAIN),
    Case("0001 000000000000002a 0000 00000000000003e8 ffffffffffffffff", PLAIN),
    Case("0002 000000000000002a 0000 00000000000003e8", PLAIN),
    Case("0003 000000000000002a ffffffff 0000 00000000000003e8", PLAIN),
    Case("0004 000000000000002a ffffffff 01 00000000000003e8 00", PLAIN),
    Case("0000 000000000000002a 0004 6e6f7465 00000000000003e8", BARE),
    Case(
        "0001 000000000000002a 0004 6e6f7465 00000000000003e8 0000000000001770",
        BARE.replace(expire_timestamp_ms=6_000),
    ),
    Case("0002 000000000000002a 0004 6e6f7465 00000000000003e8", BARE),
    Case(
        "0003 000000000000002a 00000003 0004 6e6f7465 00000000000003e8",
        BARE.replace(leader_epoch=3),
    ),
    Case(
        (
            "0004 000000000000002a 00000003 05 6e6f7465 00000000000003e8"
            "01 00 10 e24b0ed5b70b4a0092b582674e50952e"
        ),
        KNOWN,
    ),
    Case("0003 ffffffffffffffff fffffffe 0002 c3a9 00000000000003e8", ODD),
    Case("0004 ffffffffffffffff fffffffe 03 c3a9 00000000000003e8 00", ODD),
    Case(f"0003 000000000000002a ffffffff 00c8 {'61' * 200} 00000000000003e8", LONG),
    Case(f"0004 000000000000002a ffffffff c901 {'61' * 200} 00000000000003e8 00", LONG),
    Case("0000 0000 00000000 ffff ffff 00000000", without_timestamp(NEW)),
    Case("0001 0000 00000000 ffff ffff 00000000", without_timestamp(NEW)),
    Case("0002 0000 00000000 ffff ffff 00000000000003e8 00000000", NEW),
    Case("0003 0000 00000000 ffff ffff 00000000000003e8 00000000", NEW),
    Case("0004 01 00000000 00 00 00000000000003e8 01 00", NEW),
    Case("0003 0008 636f6e73756d6572 00000005 ffff ffff ffffffffffffffff 00000000", OLD),
    Case("0004 09 636f6e73756d6572 00000005 00 00 ffffffffffffffff 01 00", OLD),
    Case(
        (
            "0000 0008 636f6e73756d6572 00000004 0005 72616e6765 0001 6d 00000001"
            "0001 6d 0001 63 0002 2f68 00002710"
            "00000012 00000000000100066f7264657273ffffffff 00000002 0001"
        ),
        without_rebalance_timeouts(ONE),
    ),
    Case(
        (
            "0001 0008 636f6e73756d6572 00000004 0005 72616e6765 0001 6d 00000001"
            "0001 6d 0001 63 0002 2f68 00004e20 00002710"
            "00000012 00000000000100066f7264657273ffffffff 00000002 0001"
        ),
        without_timestamp(ONE),
    ),
    Case(
        (
            "0002 0008 636f6e73756d6572 00000004 0005 72616e6765 0001 6d 00000000000003e8 00000001"
            "0001 6d 0001 63 0002 2f68 00004e20 00002710"
            "00000012 00000000000100066f7264657273ffffffff 00000002 0001"
        ),
        without_instance_ids(ONE),
    ),
    Case(
        (
            "0003 0008 636f6e73756d6572 00000004 0005 72616e6765 0001 6d 00000000000003e8 00000001"
            "0001 6d 0001 69 0001 63 0002 2f68 00004e20 00002710"
            "00000012 00000000000100066f7264657273ffffffff 00000002 0001"
        ),
        ONE,
    ),
    Case(
        (
            "0004 09 636f6e73756d6572 00000004 06 72616e6765 02 6d 00000000000003e8 02"
            "02 6d 02 69 02 63 03 2f68 00004e20 00002710"
            "13 00000000000100066f7264657273ffffffff 03 0001 00"
            "00"
        ),
        ONE,
    ),
    Case(
        (
            "0000 0007 636f6e6e656374 00000004 0000 0001 6e 00000002"
            "0001 6d 0001 63 0002 2f68 00002710"
            "00000012 00000000000100066f7264657273ffffffff 00000002 0001"
            "0001 6e 0001 63 0002 2f68 00002710 00000000 00000000"
        ),
        without_rebalance_timeouts(TWO),
    ),
    Case(
        (
            "0003 0007 636f6e6e656374 00000004 0000 0001 6e 00000000000003e8 00000002"
            "0001 6d 0001 69 0001 63 0002 2f68 00004e20 00002710"
            "00000012 00000000000100066f7264657273ffffffff 00000002 0001"
            "0001 6e ffff 0001 63 0002 2f68 ffffffff 00002710 00000000 00000000"
        ),
        TWO,
    ),
    Case(
        (
            "0004 08 636f6e6e656374 00000004 01 02 6e 00000000000003e8 03"
            "02 6d 02 69 02 63 03 2f68 00004e20 00002710"
            "13 00000000000100066f7264657273ffffffff 03 0001 00"
            "02 6e 00 02 63 03 2f68 ffffffff 00002710 01 01 00"
            "00"
        ),
        TWO,
    ),
]
