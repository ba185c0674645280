from __future__ import annotations

from typing import Any

import pytest

from group_coordinator.codecs import wire
from group_coordinator.codecs.wire import WireError

ORDERS_ID = "4ksO1bcLSgCStYJnTlCVLg"
ORDERS_ID_BYTES = bytes.fromhex("e24b0ed5b70b4a0092b582674e50952e")


def test_a_field_that_is_left_out_has_its_default() -> None:
    assert wire.encode("OffsetCommitRequest", 7, {"groupId": "g", "topics": []}) == (
        b"\x00\x01g"
        b"\xff\xff\xff\xff"  # generation -1
        b"\x00\x00"  # member ""
        b"\xff\xff"  # instance null
        b"\x00\x00\x00\x00"
    )


def test_a_decoded_message_has_every_field_of_its_version() -> None:
    found = wire.decode("OffsetCommitRequest", 8, b"\x02g\xff\xff\xff\xff\x01\x00\x01\x00")

    assert found == {
        "groupId": "g",
        "generationIdOrMemberEpoch": -1,
        "memberId": "",
        "groupInstanceId": None,
        "topics": [],
    }


def test_a_field_of_another_version_is_left_out() -> None:
    body = {"groupId": "g", "groupInstanceId": "i1", "topics": [], "nobodyKnowsThis": 1}

    assert wire.encode("OffsetCommitRequest", 2, body) == (
        b"\x00\x01g\xff\xff\xff\xff\x00\x00"
        b"\xff\xff\xff\xff\xff\xff\xff\xff"  # retention -1
        b"\x00\x00\x00\x00"
    )


def test_bytes_are_base64_and_uuids_have_22_characters() -> None:
    sync = {"groupId": "", "assignments": [{"memberId": "m", "assignment": "AP8="}]}
    assert (
        wire.encode("SyncGroupRequest", 0, sync)[-11:]
        == (b"\x00\x00\x00\x01\x00\x01m\x00\x00\x00\x02\x00\xff"[-11:])
    )

    topic = b"\x02" + ORDERS_ID_BYTES + b"\x00\x00"
    found = wire.decode("MetadataRequest", 12, topic + b"\x00\x00\x00")
    assert found["topics"] == [{"topicId": ORDERS_ID, "name": None}]
    assert wire.encode("MetadataRequest", 12, found) == topic + b"\x00\x00\x00"


def test_null_or_not_is_a_difference() -> None:
    all_topics = {"topics": None}
    assert wire.encode("MetadataRequest", 12, all_topics) == b"\x00\x01\x00\x00"
    assert wire.decode("MetadataRequest", 12, b"\x00\x01\x00\x00")["topics"] is None
    assert wire.decode("MetadataRequest", 12, b"\x01\x01\x00\x00")["topics"] == []


def test_a_struct_that_may_be_null_has_a_byte_before_it() -> None:
    nothing = {"memberId": "m", "memberEpoch": 1, "heartbeatIntervalMs": 5}
    without = b"\x00\x00\x00\x00\x00\x00\x00\x02m\x00\x00\x00\x01\x00\x00\x00\x05\xff\x00"
    assert wire.encode("ConsumerGroupHeartbeatResponse", 0, nothing) == without
    assert wire.decode("ConsumerGroupHeartbeatResponse", 0, without)["assignment"] is None

    empty = nothing | {"assignment": {"topicPartitions": []}}
    with_one = without[:-2] + b"\x01\x01\x00\x00"
    assert wire.encode("ConsumerGroupHeartbeatResponse", 0, empty) == with_one
    assert wire.decode("ConsumerGroupHeartbeatResponse", 0, with_one)["assignment"] == {
        "topicPartitions": []
    }


class TestTaggedFields:
    NO_ENDPOINTS = b"\x01\x00\x00\x00\x00"
    """No responses, throttle time 0."""
    ENDPOINT = b"\x02\x00\x00\x00\x01\x02h\x00\x00\x23\x84\x00\x00"
    """One endpoint: node 1 at h:9092, no rack."""

    def test_one_with_its_default_is_not_written(self) -> None:
        default = {"responses": [], "nodeEndpoints": []}
        assert wire.encode("ProduceResponse", 10, default) == self.NO_ENDPOINTS + b"\x00"
        assert wire.encode("ProduceResponse", 10, {"responses": []}) == self.NO_ENDPOINTS + b"\x00"

    def test_one_that_is_not_there_is_read_as_its_default(self) -> None:
        found = wire.decode("ProduceResponse", 10, self.NO_ENDPOINTS + b"\x00")
        assert found["nodeEndpoints"] == []

        found["nodeEndpoints"].append("mine")
        again = wire.decode("ProduceResponse", 10, self.NO_ENDPOINTS + b"\x00")
        assert again["nodeEndpoints"] == []

    def test_a_struct_among_them_is_written_if_one_of_its_fields_has_no_default(self) -> None:
        part = {"currentLeader": {"leaderId": -1}}
        default = wire.encode("FetchResponse", 12, fetched(part))
        assert default == wire.encode("FetchResponse", 12, fetched({}))

        part["currentLeader"]["leaderEpoch"] = 3
        found = wire.encode("FetchResponse", 12, fetched(part))
        assert len(found) == len(default) + 2 + 9
        assert decoded_partition(found)["currentLeader"] == {"leaderId": -1, "leaderEpoch": 3}
        assert decoded_partition(default)["currentLeader"] == {"leaderId": -1, "leaderEpoch": -1}

    def test_one_that_is_there(self) -> None:
        endpoint = {"nodeId": 1, "host": "h", "port": 9092, "rack": None}
        tagged = self.NO_ENDPOINTS + b"\x01\x00\x0d" + self.ENDPOINT

        assert wire.encode("ProduceResponse", 10, {"nodeEndpoints": [endpoint]}) == tagged
        assert wire.decode("ProduceResponse", 10, tagged)["nodeEndpoints"] == [endpoint]

    def test_unknown_ones_are_skipped(self) -> None:
        tags = b"\x02" + b"\x05\x03xyz" + b"\x80\x01\x00"
        found = wire.decode("ProduceResponse", 10, self.NO_ENDPOINTS + tags)

        assert found == {"responses": [], "throttleTimeMs": 0, "nodeEndpoints": []}

    def test_of_equal_ones_the_last_counts(self) -> None:
        tags = b"\x02" + b"\x00\x0d" + self.ENDPOINT + b"\x00\x01\x01"

        assert wire.decode("ProduceResponse", 10, self.NO_ENDPOINTS + tags)["nodeEndpoints"] == []

    def test_the_size_of_a_known_one_is_not_looked_at(self) -> None:
        tags = b"\x01" + b"\x00\x63" + self.ENDPOINT

        found = wire.decode("ProduceResponse", 10, self.NO_ENDPOINTS + tags)["nodeEndpoints"]
        assert [endpoint["host"] for endpoint in found] == ["h"]

    def test_one_of_another_version_is_refused(self) -> None:
        tags = b"\x01" + b"\x00\x0d" + self.ENDPOINT

        assert wire.decode("ProduceResponse", 10, self.NO_ENDPOINTS + tags)["nodeEndpoints"]
        with pytest.raises(WireError, match=r"v9: tag: 0 is one of another version$"):
            wire.decode("ProduceResponse", 9, self.NO_ENDPOINTS + tags)


def fetched(partition: dict[str, Any]) -> dict[str, Any]:
    return {"responses": [{"topic": "t", "partitions": [partition]}]}


def decoded_partition(data: bytes) -> Any:
    return wire.decode("FetchResponse", 12, data)["responses"][0]["partitions"][0]


def test_bytes_behind_a_message_are_not_looked_at() -> None:
    assert wire.decode("SaslHandshakeRequest", 1, b"\x00\x05PLAINmore") == {"mechanism": "PLAIN"}


def test_a_message_may_begin_anywhere_and_be_a_part_of_other_bytes() -> None:
    data = memoryview(b"before\x00\x05PLAIN")

    assert wire.decode("SaslHandshakeRequest", 1, data, 6) == {"mechanism": "PLAIN"}


@pytest.mark.parametrize(
    ("encoded", "text"),
    [
        (b"gr\xc3\xbc\xc3\x9fe", "grüße"),
        (b"\xff", "\ufffd"),
        (b"a\xc3", "a\ufffd"),
        (b"\xed\xa0\x80z", "\ufffdz"),  # half of a UTF-16 pair: one, as in Java
        (b"\xed\xa0\x80\xed\xb0\x80", "\ufffd\ufffd"),
        (b"\xc0\x80", "\ufffd\ufffd"),
        (b"\xf0\x9f\x98\x80\x00", "\U0001f600\x00"),
    ],
)
def test_text_is_read_as_java_does(encoded: bytes, text: str) -> None:
    data = len(encoded).to_bytes(2) + encoded

    assert wire.decode("SaslHandshakeRequest", 1, data) == {"mechanism": text}


def test_lengths_of_two_bytes() -> None:
    long = "x" * 127
    data = b"\x80\x01" + long.encode()

    assert wire.encode("FindCoordinatorRequest", 3, {"key": long}) == data + b"\x00\x00"
    assert wire.decode("FindCoordinatorRequest", 3, data + b"\x00\x00")["key"] == long
    assert wire.encode("FindCoordinatorRequest", 3, {"key": long[1:]})[:2] == b"\x7fx"


HEARTBEAT = b"\x02g\x00\x00\x00\x03\x02m\x00"


@pytest.mark.parametrize(
    ("message", "version", "data", "why"),
    [
        ("HeartbeatRequest", 4, b"", "v4: groupId: ends too early, 0 bytes left"),
        ("HeartbeatRequest", 4, b"\x00", "v4: groupId: is null"),
        ("HeartbeatRequest", 3, b"\xff\xff", "v3: groupId: is null"),
        ("HeartbeatRequest", 4, b"\x03g", "v4: groupId: 2 bytes wanted, 1 left"),
        ("HeartbeatRequest", 4, b"\x02g\x00\x00", "v4: generationId: ends too early, 2 bytes left"),
        ("HeartbeatRequest", 4, b"\xff" * 5, "v4: groupId: a varint of more than five bytes"),
        (
            "HeartbeatRequest",
            4,
            HEARTBEAT,
            "v4: count of tagged fields: ends too early, 0 bytes left",
        ),
        ("HeartbeatRequest", 4, HEARTBEAT + b"\x09", "v4: tag: ends too early, 0 bytes left"),
        ("DeleteGroupsRequest", 2, b"\x00", "v2: groupsNames: is null"),
        ("DeleteGroupsRequest", 2, b"\x03\x02g\x00", r"v2: groupsNames\[1\]: is null"),
        ("DeleteGroupsRequest", 1, b"\xff\xff\xff\xff", "v1: groupsNames: is null"),
        (
            "DeleteGroupsRequest",
            1,
            b"\x7f\xff\xff\xff\x00\x01g",
            "v1: groupsNames: 2147483647 elements in 3 bytes",
        ),
        (
            "DeleteGroupsRequest",
            2,
            b"\x80\x80\x80\x80\x08\x02g",  # Java's lowest int, less one: its highest
            "v2: groupsNames: 2147483647 elements in 2 bytes",
        ),
        (
            "OffsetDeleteRequest",
            0,
            b"\x00\x01g\x00\x00\x00\x01\x00\x01t\x00\x00\x00\x01\x00\x00",
            r"v0: topics\[0\].partitions\[0\].partitionIndex: ends too early, 2 bytes left",
        ),
        (
            "SyncGroupResponse",
            0,
            b"\x00\x00\x00\x00\x00\x02x",
            "v0: assignment: 2 bytes wanted, 1 left",
        ),
        ("MetadataRequest", 12, b"\x02\x00", r"v12: topics\[0\].topicId: 16 bytes wanted, 1 left"),
    ],
)
def test_what_kafka_does_not_read(message: str, version: int, data: bytes, why: str) -> None:
    with pytest.raises(WireError, match=f"^{message} {why}$"):
        wire.decode(message, version, data)


def test_kafkas_limits() -> None:
    text = b"\x80\x00" + b"x" * 0x8000
    with pytest.raises(WireError, match="groupId: is null"):
        wire.decode("HeartbeatRequest", 3, text)
    with pytest.raises(WireError, match=r"groupId: 32768 bytes are too long for a string$"):
        wire.decode("HeartbeatRequest", 4, b"\x81\x80\x02" + b"x" * 0x8000)
    with pytest.raises(WireError, match=r"mechanisms: 1000001 are too many$"):
        wire.decode("SaslHandshakeResponse", 0, b"\0\0\x00\x0f\x42\x41" + bytes(2 * 1_000_001))
    with pytest.raises(WireError, match=r"count of tagged fields: 10001 are too many$"):
        wire.decode("HeartbeatRequest", 4, HEARTBEAT + b"\x91\x4e" + b"\x63\x00" * 10_001)

    most = wire.decode("SaslHandshakeResponse", 0, b"\0\0\x00\x0f\x42\x40" + bytes(2_000_000))
    assert len(most["mechanisms"]) == 1_000_000
    wire.decode("HeartbeatRequest", 4, HEARTBEAT + b"\x90\x4e" + b"\x63\x00" * 10_000)


def test_a_request_has_at_most_30000_elements_in_all_its_arrays() -> None:
    def fetch(topics: int) -> bytes:
        group = {"groupId": "g", "topics": [{"name": "", "partitionIndexes": []}] * topics}
        return wire.encode("OffsetFetchRequest", 9, {"groups": [group, group]})

    found = wire.decode("OffsetFetchRequest", 9, fetch(14_999))
    assert [len(group["topics"]) for group in found["groups"]] == [14_999, 14_999]
    with pytest.raises(
        WireError, match=r"v9: groups\[1\].topics: more than 30000 elements in all$"
    ):
        wire.decode("OffsetFetchRequest", 9, fetch(15_000))


def test_numbers_are_not_among_the_elements_that_are_limited() -> None:
    numbers = {"name": "orders", "partitionIndexes": list(range(100_000))}
    body = {"groups": [{"groupId": "g", "topics": [numbers]}]}
    data = wire.encode("OffsetFetchRequest", 9, body)

    [group] = wire.decode("OffsetFetchRequest", 9, data)["groups"]
    assert group["topics"] == [numbers]


def test_text_that_would_be_too_long_to_write_is_not_read() -> None:
    def mechanism(length: int) -> bytes:
        return length.to_bytes(2) + b"\xff" * length

    found = wire.decode("SaslHandshakeRequest", 1, mechanism(10_922))["mechanism"]
    assert found == "\ufffd" * 10_922
    wire.encode("SaslHandshakeRequest", 1, {"mechanism": found})
    with pytest.raises(WireError, match=r"mechanism: 32769 bytes are too long for a string$"):
        wire.decode("SaslHandshakeRequest", 1, mechanism(10_923))


@pytest.mark.parametrize(
    ("version", "body", "why"),
    [
        (4, {"groupId": None}, "v4: groupId: is null"),
        (4, {"groupId": 3}, "v4: groupId: 'int' object has no attribute 'encode'"),
        (4, {"groupId": "x" * 32_768}, "v4: groupId: 32768 bytes are too long for a string"),
        (3, {"groupId": "x" * 32_768}, "v3: groupId: 32768 bytes are too long for a string"),
        (4, {"groupId": "\ud800"}, "v4: groupId: is not UTF-8: surrogates not allowed"),
        (4, {"generationId": 2**31}, "v4: generationId: 2147483648 does not fit 4 bytes"),
        (4, {"generationId": "3"}, "v4: generationId: required argument is not an integer"),
    ],
)
def test_what_does_not_fit_a_message(version: int, body: dict[str, Any], why: str) -> None:
    with pytest.raises(WireError, match=f"^HeartbeatRequest {why}$"):
        wire.encode("HeartbeatRequest", version, body)


@pytest.mark.parametrize(
    ("topic", "why"),
    [
        ({"topicId": "short"}, r"topics\[0\].topicId: .*"),
        ({"topicId": ORDERS_ID + ORDERS_ID}, r"topics\[0\].topicId: .* is no uuid"),
        ({"topicId": None}, r"topics\[0\].topicId: is null"),
        ("orders", r"topics\[0\]: 'str' object has no attribute 'get'"),
    ],
)
def test_what_is_no_topic(topic: Any, why: str) -> None:
    with pytest.raises(WireError, match=f"^MetadataRequest v12: {why}$"):
        wire.encode("MetadataRequest", 12, {"topics": [topic]})


def test_a_message_that_nobody_defined_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(KeyError, match="HearbeatRequest"):
        wire.decode("HearbeatRequest", 0, b"")


def test_a_version_that_nobody_defined() -> None:
    with pytest.raises(WireError, match=r"^HeartbeatRequest: version 5 is not in 0-4$"):
        wire.decode("HeartbeatRequest", 5, b"")
    with pytest.raises(WireError, match=r"^OffsetCommitRequest: version 1 is not in 2-10$"):
        wire.encode("OffsetCommitRequest", 1, {})
