"""Values here were compared with what Kafka's own converters print."""

from __future__ import annotations

from group_coordinator.codecs.records import log_entry
from group_coordinator.core.model.records import GroupRecord, Reason
from tests.unit.codecs.offsets_topic.cases import NEW, ONE, STATIC
from tests.unit.codecs.records.logged_texts import GROUP_KEY, LoggedTexts, logged


def test_an_empty_group() -> None:
    record = GroupRecord(NEW, Reason.JOIN)

    value = (
        '{"version":3,"data":{"protocolType":"","generation":0,"protocol":null,"leader":null,'
        '"currentStateTimestamp":1000,"members":[]}}'
    )
    assert logged("g", record) == LoggedTexts(2, GROUP_KEY, value)


def test_a_group_with_a_member() -> None:
    member = STATIC.replace(group_instance_id=None, client_id="client", client_host="/10.0.0.1")
    group = ONE.replace(state_timestamp_ms=None, members=(member,))
    record = GroupRecord(group, Reason.MIRRORED)

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
