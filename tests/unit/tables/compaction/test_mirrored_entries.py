"""Logs that were mirrored from a cluster: cleaned ones, old versions, and what no coordinator should have written."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest
from msgspec import structs

from group_coordinator.codecs.records.log_entry import RecordError
from group_coordinator.tables.compaction.rows import GroupRows, StoredLogEntry, to_arrow
from group_coordinator.tables.compaction.spark import apply_entries
from group_coordinator.tables.creation import COMPACTED
from tests.support.log_rows import member
from tests.support.mirrored_log import KEY, MINUTE, MirroredLog, MirroredTables

ORDERS = "4ksO1bcLSgCStYJnTlCVLg"
RECORDED = Path(__file__).parents[3] / "data" / "offsets_topic.jsonl"
CONSUMER = {
    "instanceId": None,
    "rackId": None,
    "clientId": "client",
    "clientHost": "/10.0.0.1",
    "subscribedTopicNames": ["orders"],
    "subscribedTopicRegex": "",
    "rebalanceTimeoutMs": 60_000,
    "serverAssignor": None,
}
HAS_ONE = {
    "memberEpoch": 2,
    "previousMemberEpoch": 1,
    "state": 0,
    "assignedPartitions": [{"topicId": ORDERS, "partitions": [0]}],
    "partitionsPendingRevocation": [],
}


def classic(*members: dict[str, object], **more: object) -> dict[str, object]:
    data = {"protocolType": "consumer", "generation": 3, "protocol": "range", "leader": None}
    return data | {"currentStateTimestamp": 500, "members": list(members)} | more


def of_member_a() -> dict[str, object]:
    return member("a", ["orders"], {"orders": [0]})


def consumer_group(log: MirroredLog) -> None:
    log.record(5, CONSUMER, memberId="a")
    log.record(3, {"epoch": 2})
    log.record(6, {"assignmentEpoch": 2})
    log.record(8, HAS_ONE, memberId="a")


def shown(tables: MirroredTables) -> tuple[object, ...] | None:
    row = tables.rows.group
    return row and (row.group_type, row.state, row.protocol_type, row.member_count)


def test_a_group_with_offsets_and_no_record_is_a_simple_one_until_its_last_offset_goes() -> None:
    tables, log = MirroredTables(), MirroredLog()
    log.commit("orders", 0, 42)
    tables.take(log)
    assert shown(tables) == ("classic", "Empty", "", 0)
    assert tables.group.empty_since is None
    assert tables.rows.offsets["orders", 0].expires_at == 70_000

    key = log.entries[0].key
    log.put(key, None, reason="offset-deleted")
    tables.take(log)
    assert tables.rows == GroupRows()


def test_offsets_that_outlive_the_record_of_their_group_make_a_simple_one() -> None:
    tables, log = MirroredTables(), MirroredLog()
    log.record(2, classic(of_member_a()))
    log.commit("orders", 0, 42)
    tables.take(log)
    assert shown(tables) == ("classic", "Stable", "consumer", 1)

    log.put(log.entries[0].key, None, reason="group-deleted")
    tables.take(log)
    assert shown(tables) == ("classic", "Empty", "", 0)
    assert tables.rows.members == {}


def test_a_group_that_nobody_has_joined_yet_has_a_record_and_needs_no_offsets() -> None:
    tables, log = MirroredTables(), MirroredLog()
    log.record(2, classic(protocolType="", protocol=None, generation=0))
    tables.take(log)
    assert shown(tables) == ("classic", "Empty", "", 0)
    assert tables.group.empty_since == 500

    log.commit("orders", 0, 42)
    log.forget("orders", 0)
    tables.take(log)
    assert shown(tables) == ("classic", "Empty", "", 0)


def test_a_legacy_commit_is_a_commit() -> None:
    tables, log = MirroredTables(), MirroredLog()
    data = {"offset": 7, "metadata": "m", "commitTimestamp": 1_000}
    log.record(0, data, topic="orders", partition=0)
    tables.take(log)
    row = tables.rows.offsets["orders", 0]
    assert (row.committed_offset, row.metadata, row.leader_epoch) == (7, "m", None)

    log.record(0, None, topic="orders", partition=0)
    tables.take(log)
    assert tables.rows == GroupRows()


def test_a_commit_of_version_1_says_when_it_expires() -> None:
    tables, log = MirroredTables(), MirroredLog()
    log.commit("orders", 0, 7, expireTimestamp=25_000)
    log.commit("orders", 1, 7, expireTimestamp=-1)
    tables.take(log)
    rows = tables.rows.offsets
    assert (rows["orders", 0].expire_timestamp, rows["orders", 0].expires_at) == (25_000, 30_000)
    assert (rows["orders", 1].expire_timestamp, rows["orders", 1].expires_at) == (None, 70_000)


def test_a_group_of_version_0_has_defaults_for_what_came_later() -> None:
    """No time of the state, no instance id, no timeout of a rebalance: then the session's counts."""
    tables, log = MirroredTables(), MirroredLog()
    old = of_member_a()
    del old["groupInstanceId"], old["rebalanceTimeout"]
    data = classic(old)
    del data["currentStateTimestamp"]
    log.record(2, data)
    tables.take(log)
    row = tables.rows.members["a"]
    assert (row.group_instance_id, row.rebalance_timeout_ms) == (None, 45_000)

    log.record(2, {**data, "members": []})
    log.commit("orders", 0, 42)
    tables.take(log)
    assert shown(tables) == ("classic", "Empty", "consumer", 0)
    assert tables.group.empty_since is None
    assert tables.rows.offsets["orders", 0].expires_at == 70_000


def test_a_current_assignment_makes_the_member_that_a_later_record_describes() -> None:
    tables, log = MirroredTables({ORDERS: "orders"}), MirroredLog()
    log.record(7, {"topicPartitions": [{"topicId": ORDERS, "partitions": [0, 1]}]}, memberId="a")
    tables.take(log)
    assert shown(tables) == ("consumer", "Empty", "consumer", 0)

    log.record(8, HAS_ONE, memberId="a")
    tables.take(log)
    assert tables.rows.members["a"].client_id == ""

    log.record(5, CONSUMER, memberId="a")
    log.record(3, {"epoch": 2})
    tables.take(log)
    row = tables.rows.members["a"]
    assert (row.client_id, tables.assigned("a")) == ("client", [("orders", 0)])
    assert [each.partition for each in row.target_assignment or ()] == [0, 1]
    assert tables.group.records is None


def test_the_epochs_record_says_since_when_a_consumer_group_is_empty() -> None:
    """A cleaner takes the tombstones of the last member away, and leaves that one."""
    tables, log = MirroredTables(), MirroredLog()
    consumer_group(log)
    for record_type in (8, 5):
        log.record(record_type, None, memberId="a")
    log.record(3, {"epoch": 3})
    tables.take(log)
    assert (tables.group.state, tables.group.empty_since) == ("Empty", 7_000)

    left = MirroredTables()
    left.take(MirroredLog(log.entries[-1:]))
    assert (left.group.state, left.group.empty_since) == ("Empty", 7_000)


@pytest.mark.parametrize("at_once", [True, False], ids=["in one stretch", "in two"])
def test_the_newest_record_says_of_which_kind_a_group_is(at_once: bool) -> None:  # noqa: FBT001
    """Kafka's own replay would end with an error here: no cleaner leaves such a log."""
    kinds = {
        "classic": lambda log: log.record(2, classic(of_member_a())),
        "consumer": consumer_group,
        "share": lambda log: log.record(11, {"epoch": 4}),
        "streams": lambda log: log.record(17, {"epoch": 5, "metadataHash": 0}),
    }
    for first, begin in kinds.items():
        for second, go_on in kinds.items():
            tables, log = MirroredTables(), MirroredLog()
            log.commit("orders", 0, 42)
            begin(log)
            if not at_once:
                tables.take(log)
                assert tables.group.group_type == first
            go_on(log)
            tables.take(log)
            assert tables.group.group_type == second
            assert tables.group.member_count == len(tables.rows.members)
            assert list(tables.rows.offsets) == [("orders", 0)]


@pytest.mark.parametrize("record_type", [2, 3, 11], ids=["classic", "consumer", "share"])
def test_a_tombstone_of_another_kind_changes_nothing(record_type: int) -> None:
    tables, log = MirroredTables(), MirroredLog()
    log.record(17, {"epoch": 5, "metadataHash": 0})
    tables.take(log)
    before = tables.rows.group

    log.record(record_type, None)
    tables.take(log)
    assert tables.rows.group == before


def test_a_group_that_was_something_else_is_nothing_when_its_new_kind_ends() -> None:
    tables, log = MirroredTables(), MirroredLog()
    consumer_group(log)
    log.record(11, {"epoch": 4})
    log.record(11, None)
    tables.take(log)
    assert tables.rows == GroupRows()


def test_a_consumer_group_is_not_empty_since_a_classic_one_was() -> None:
    """Only a damaged log goes over from a classic group that nobody had joined without its tombstone."""
    tables, log = MirroredTables(), MirroredLog()
    log.record(2, classic(protocolType="", currentStateTimestamp=-(2**56)))
    log.record(6, {"assignmentEpoch": 3})
    tables.take(log)

    assert (tables.group.group_type, tables.group.empty_since) == ("consumer", 2_000)


def test_a_mirrored_record_that_is_none_is_left_out_and_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    tables, log = MirroredTables(), MirroredLog()
    log.commit("orders", 0, 42)
    log.put('{"type":99,"data":{}}', None)
    log.record(11, {"epoch": "many"})
    log.record(3, {"epoch": None})
    log.commit("orders", 1, 43)
    tables.take(log)

    assert [row.committed_offset for row in tables.rows.offsets.values()] == [42, 43]
    assert [record.levelname for record in caplog.records] == ["WARNING"] * 3
    assert "group_id='g'): a mirrored record is skipped: " in caplog.messages[0]


def test_a_record_of_our_own_that_is_none_is_a_defect() -> None:
    entry = StoredLogEntry(0, 0, '{"type":99,"data":{}}', None, 1_000, "join")
    with pytest.raises(RecordError, match="unknown record type 99"):
        list(apply_entries(KEY, GroupRows(), [entry], MINUTE))


def recorded() -> list[StoredLogEntry]:
    """What Kafka's formatter printed of a recorded set, of all types and versions, as records of one group."""
    lines = [json.loads(line)["verdict"] for line in RECORDED.read_text().splitlines()]
    found = [line["json"] for line in lines if "json" in line]
    return [
        StoredLogEntry(
            number,
            0,
            json.dumps(each["key"]),
            None if each["value"] is None else json.dumps(each["value"]),
            number,
            "mirrored",
        )
        for number, each in enumerate(found)
    ]


def test_whatever_kafka_prints_is_taken_in_any_order(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    log = recorded()
    types = {json.loads(entry.key)["type"] for entry in log}
    assert {0, 1, 2, 3, 5, 6, 7, 8, 10, 11, 12, 13, 14, 15, 16, 17, 19, 20, 21, 22, 23} <= types

    for step in (1, 7, 11, -1):
        turned = [
            structs.replace(entry, batch_id=number) for number, entry in enumerate(log[::step])
        ]
        tables, read = MirroredTables(), MirroredLog()
        for entry in turned:
            read.entries.append(entry)
            tables.take(read)
        for definition in COMPACTED:
            rows = tables.rows.by_table()[definition.name].values()
            assert to_arrow(rows, definition.no_rows().schema).num_rows == len(rows)
    assert caplog.messages == []
