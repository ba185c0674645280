from __future__ import annotations

from typing import Any

import pytest

from group_coordinator.codecs.offsets_topic import decode_entry
from group_coordinator.codecs.records.record_types import LogEntry
from tests.unit.codecs.offsets_topic.cases import GROUP_KEY, OFFSET_KEY, ORDERS_ID

EPOCH_KEY = "0003 0001 67"
MEMBER_KEY = "0005 0001 67 0001 6d"
V0 = "0000 000000000000002a 0004 6e6f7465 00000000000003e8"
V4 = "0004 000000000000002a 00000003 05 6e6f7465 00000000000003e8"
PLAIN_V4 = {"offset": 42, "leaderEpoch": 3, "metadata": "note", "commitTimestamp": 1_000}
TAGGED_ID = "00 10 e24b0ed5b70b4a0092b582674e50952e"
ENDPOINT = {"host": "h", "port": 80}
MEMBER = "0000 00 00 02 63 03 2f68 01 01 00000000 00"


def decoded(key: str, value: str | None) -> tuple[str, LogEntry]:
    return decode_entry(bytes.fromhex(key), None if value is None else bytes.fromhex(value))


def says(key: str, value: str) -> dict[str, Any]:
    _, entry = decoded(key, value)
    assert entry.value is not None
    data: dict[str, Any] = entry.value.data
    return data


def test_what_tables_ask_for_is_beside_the_json() -> None:
    def found(key: str, value: str | None) -> tuple[object, ...]:
        _, entry = decoded(key, value)
        return entry.topic, entry.partition, entry.member_id, entry.offset

    assert found(OFFSET_KEY, V0) == ("orders", 2, None, 42)
    assert found(MEMBER_KEY, None) == (None, None, "m", None)
    assert found(EPOCH_KEY, "0000 00000005 00") == (None, None, None, None)


TAGGED_FIELDS: dict[str, tuple[str, dict[str, Any]]] = {
    "none": ("00", {}),
    "one": (f"01 {TAGGED_ID}", {"topicId": ORDERS_ID}),
    "the default": (f"01 00 10 {'00' * 16}", {}),
    "an unknown one behind it": (f"02 {TAGGED_ID} 07 02 abcd", {"topicId": ORDERS_ID}),
    "an unknown one before it": (f"02 07 02 abcd {TAGGED_ID}", {"topicId": ORDERS_ID}),
    "a high unknown one": ("01 ffffffff0f 00", {}),
    "the same twice": (f"02 00 10 {'ff' * 16} {TAGGED_ID}", {"topicId": ORDERS_ID}),
    "of a wrong size": (f"01 00 05 {TAGGED_ID[6:]}", {"topicId": ORDERS_ID}),
    "a number of 33 bits, of which Kafka keeps 32": (
        f"01 8080808010 {TAGGED_ID[3:]}",
        {"topicId": ORDERS_ID},
    ),
}


@pytest.mark.parametrize(("tagged_fields", "topic_id"), TAGGED_FIELDS.values(), ids=TAGGED_FIELDS)
def test_tagged_fields_are_read_as_kafka_does(tagged_fields: str, topic_id: dict[str, Any]) -> None:
    assert says(OFFSET_KEY, V4 + tagged_fields) == PLAIN_V4 | topic_id


@pytest.mark.parametrize(
    ("tagged_field", "metadata"),
    [
        ("00", {}),
        ("01 00 01 00", {"classicMemberMetadata": None}),
        ("01 00 05 8080808008", {"classicMemberMetadata": None}),
        ("01 00 07 01 00000000 01 00", {}),
        (
            "01 00 07 01 00000001 01 00",
            {"classicMemberMetadata": {"sessionTimeoutMs": 1, "supportedProtocols": []}},
        ),
    ],
    ids=["not written", "null", "negative", "the default", "something"],
)
def test_the_default_of_a_tagged_struct_is_empty_and_not_null(
    tagged_field: str, metadata: dict[str, Any]
) -> None:
    found = says(MEMBER_KEY, MEMBER + tagged_field)

    assert found.keys() - {"classicMemberMetadata"} == {
        "instanceId",
        "rackId",
        "clientId",
        "clientHost",
        "subscribedTopicNames",
        "subscribedTopicRegex",
        "rebalanceTimeoutMs",
        "serverAssignor",
    }
    assert {name: found[name] for name in found.keys() & {"classicMemberMetadata"}} == metadata


@pytest.mark.parametrize(
    ("tagged_fields", "found"),
    [
        ("03 00 04 ffffffff 02 04 ffffffff 03 04 ffffffff", []),
        (
            "02 00 04 00000000 02 04 00000000",
            ["validatedTopologyEpoch", "storedDescriptionTopologyEpoch"],
        ),
        ("01 01 01 01", []),
        ("01 01 01 00", ["lastAssignmentConfigs"]),
    ],
)
def test_what_is_as_the_default_is_left_out_even_if_it_was_written(
    tagged_fields: str, found: list[str]
) -> None:
    said = says("0011 0001 67", f"0000 00000005 0000000000000007 {tagged_fields}")

    assert list(said) == ["epoch", "metadataHash", *found]


@pytest.mark.parametrize(
    ("there", "endpoint"),
    [("ff", None), ("80", None), ("00 02 68 0050 00", ENDPOINT), ("7f 02 68 0050 00", ENDPOINT)],
)
def test_a_negative_byte_says_that_there_is_no_struct(
    there: str, endpoint: dict[str, Any] | None
) -> None:
    value = f"0000 00 00 02 63 03 2f68 00000000 00000000 02 70 {there} 01 00"

    assert says("0013 0001 67 0001 6d", value)["userEndpoint"] == endpoint


def test_kafka_takes_every_negative_length_for_null() -> None:
    assert says(GROUP_KEY, "0000 0000 00000000 fffe 8000 00000000") == says(
        GROUP_KEY, "0000 0000 00000000 ffff ffff 00000000"
    )
    assert says(MEMBER_KEY, f"0000 8180808008 {MEMBER[8:]} 00") == says(MEMBER_KEY, MEMBER + "00")
