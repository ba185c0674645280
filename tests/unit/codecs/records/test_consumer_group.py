"""The JSON of consumer groups' records and of their members. The values are what Kafka 4.4.0's own converters print."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given

from group_coordinator.codecs.records import log_entry
from group_coordinator.codecs.records.log_entry import RecordError
from group_coordinator.codecs.records.record_types import LogEntry
from group_coordinator.core.model.consumer_member import CurrentAssignment, ReconciliationState
from group_coordinator.core.model.records import (
    CurrentRecord,
    PartitionMetadataTombstone,
    Reason,
    Record,
)
from tests.unit.codecs import consumer_strategies, strategies
from tests.unit.codecs.offsets_topic.test_consumer_messages import CASES, MIRRORED, ORDERS_ID

NO_PATTERN = {"subscribedTopicRegex": ""}
CLIENT = {"clientId": "c", "clientHost": "/h"}
NOT_STATIC = {"instanceId": None, "rackId": None}
VALUES: dict[str, dict[str, Any]] = {
    "epoch": {"epoch": 5},
    "epoch and hash": {"epoch": 5, "metadataHash": -8151689491784040228},
    "static member": {
        "instanceId": "i",
        "rackId": "r",
        **CLIENT,
        "subscribedTopicNames": ["orders", "pay"],
        **NO_PATTERN,
        "rebalanceTimeoutMs": 1000,
        "serverAssignor": "range",
        "classicMemberMetadata": None,
    },
    "member with a pattern": {
        **NOT_STATIC,
        **CLIENT,
        "subscribedTopicNames": [],
        "subscribedTopicRegex": "o.*",
        "rebalanceTimeoutMs": -1,
        "serverAssignor": None,
        "classicMemberMetadata": None,
    },
    "member of the classic protocol": {
        **NOT_STATIC,
        **CLIENT,
        "subscribedTopicNames": ["orders"],
        **NO_PATTERN,
        "rebalanceTimeoutMs": 5000,
        "serverAssignor": None,
        "classicMemberMetadata": {
            "sessionTimeoutMs": 10000,
            "supportedProtocols": [{"name": "range", "metadata": "AAAAAAABAAZvcmRlcnP/////"}],
        },
    },
    "target epoch of an upgrade": {"assignmentEpoch": 4},
    "target epoch": {"assignmentEpoch": 4, "assignmentTimestamp": 1000},
    "target": {"topicPartitions": [{"topicId": ORDERS_ID, "partitions": [0, 2]}]},
    "target in Kafka's order": {
        "topicPartitions": [
            {"topicId": ORDERS_ID, "partitions": [0]},
            {"topicId": "AAAAAAAAAAAAAAAAAAAAAQ", "partitions": [1]},
        ]
    },
    "empty target": {"topicPartitions": []},
    "current assignment": {
        "memberEpoch": 4,
        "previousMemberEpoch": 3,
        "state": 1,
        "assignedPartitions": [
            {"topicId": ORDERS_ID, "partitions": [0, 2], "assignmentEpochs": [3, 4]}
        ],
        "partitionsPendingRevocation": [
            {"topicId": ORDERS_ID, "partitions": [1], "assignmentEpochs": [3]}
        ],
    },
    "pattern": {"topics": ["orders"], "version": 7, "timestamp": 1000},
}
IN_GROUP: dict[str, Any] = {"groupId": "g"}
OF_MEMBER = {"groupId": "g", "memberId": "m"}
KEYS = {
    3: IN_GROUP,
    4: IN_GROUP,
    5: OF_MEMBER,
    6: IN_GROUP,
    7: OF_MEMBER,
    8: OF_MEMBER,
    16: {"groupId": "g", "regularExpression": "o.*"},
}


def plain(value: object) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value))


def decoded(entry: LogEntry, reason: Reason = MIRRORED) -> Record:
    key = msgspec.json.encode(entry.key).decode()
    value = None if entry.value is None else msgspec.json.encode(entry.value).decode()
    return log_entry.decode(key, value, reason)


@pytest.mark.parametrize("name", CASES)
def test_a_record_is_printed_as_kafka_prints_it(name: str) -> None:
    record = CASES[name][0]
    entry = log_entry.encode("g", record)
    record_type = entry.key.type
    assert plain(entry.key) == {"type": record_type, "data": KEYS[record_type]}
    assert plain(entry.value) == {"version": 0, "data": VALUES[name]}
    assert entry.member_id == KEYS[record_type].get("memberId")
    assert decoded(entry) == record


def test_the_tombstone_of_what_kafka_keeps_no_more() -> None:
    entry = log_entry.encode("g", PartitionMetadataTombstone(Reason.GROUP_DELETED))
    assert (entry.key.type, entry.value) == (4, None)
    assert decoded(entry, Reason.GROUP_DELETED) == PartitionMetadataTombstone(Reason.GROUP_DELETED)


def test_what_older_brokers_wrote_has_no_epochs_of_partitions() -> None:
    key = '{"type":8,"data":{"groupId":"g","memberId":"m"}}'
    value = (
        '{"version":0,"data":{"memberEpoch":4,"previousMemberEpoch":3,"state":0,"assignedPartitions":'
        f'[{{"topicId":"{ORDERS_ID}","partitions":[2,0]}}],"partitionsPendingRevocation":[]}}}}'
    )
    current = CurrentAssignment(4, 3, ReconciliationState.STABLE, {ORDERS_ID: {0: 4, 2: 4}}, {})
    assert log_entry.decode(key, value) == CurrentRecord("m", current, MIRRORED)


def test_what_is_no_record_is_refused() -> None:
    with pytest.raises(RecordError, match="missing required field `epoch`"):
        log_entry.decode('{"type":3,"data":{"groupId":"g"}}', '{"version":0,"data":{}}')


@given(consumer_strategies.consumer_records | consumer_strategies.config_records, strategies.names)
def test_a_record_comes_back_from_its_json(record: Record, group_id: str) -> None:
    assert decoded(log_entry.encode(group_id, record), record.reason) == record
