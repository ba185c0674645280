"""Values here were compared with what Kafka's own converters print."""

from __future__ import annotations

from group_coordinator.codecs.records import log_entry
from group_coordinator.core.embedded_protocol import encode_subscription
from group_coordinator.core.model.classic_member import Protocol
from group_coordinator.core.model.records import GroupMetadata, GroupRecord, MemberMetadata, Reason
from tests.unit.codecs.records.logged_texts import GROUP_KEY, LoggedTexts, logged


def test_an_empty_group() -> None:
    record = GroupRecord(
        GroupMetadata(
            protocol_type="",
            generation=0,
            protocol=None,
            leader=None,
            state_timestamp_ms=1_000,
            members=(),
        ),
        Reason.JOIN,
    )

    value = (
        '{"version":3,"data":{"protocolType":"","generation":0,"protocol":null,"leader":null,'
        '"currentStateTimestamp":1000,"members":[]}}'
    )
    assert logged("g", record) == LoggedTexts(2, GROUP_KEY, value)


def test_a_group_with_a_member() -> None:
    subscription = Protocol("range", encode_subscription(["orders"]))
    member = MemberMetadata(
        member_id="m",
        group_instance_id=None,
        client_id="client",
        client_host="/10.0.0.1",
        rebalance_timeout_ms=20_000,
        session_timeout_ms=10_000,
        subscription=subscription,
        assignment=b"\x00\x01",
    )
    record = GroupRecord(
        GroupMetadata(
            protocol_type="consumer",
            generation=4,
            protocol="range",
            leader="m",
            state_timestamp_ms=None,
            members=(member,),
        ),
        Reason.MIRRORED,
    )

    entry = logged("g", record)

    assert entry.value == (
        '{"version":3,"data":{"protocolType":"consumer","generation":4,"protocol":"range","leader":"m",'
        '"currentStateTimestamp":-1,"members":[{"memberId":"m","groupInstanceId":null,"clientId":"client",'
        '"clientHost":"/10.0.0.1","rebalanceTimeout":20000,"sessionTimeout":10000,'
        '"subscription":"AAAAAAABAAZvcmRlcnP/////","assignment":"AAE="}]}}'
    )
    assert log_entry.decode(entry.key, entry.value) == record


def test_a_tombstone() -> None:
    dead = LoggedTexts(2, GROUP_KEY, None)
    assert logged("g", GroupRecord(None, Reason.GROUP_EXPIRED)) == dead
