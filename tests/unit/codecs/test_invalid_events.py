from __future__ import annotations

import pytest

from group_coordinator.codecs import events
from group_coordinator.codecs.events import InvalidEventError
from group_coordinator.core.model.errors import ErrorCode
from tests.unit.codecs.sent_events import Json, commit, event, refused

NOT_EVEN_AN_OBJECT = {
    "nothing": (b"", "not JSON: Input data was truncated"),
    "no JSON": (b"hello", "not JSON: JSON is malformed: invalid character (byte 0)"),
    "two values": (
        b'{"api": "Tick", "version": 0} {}',
        "not JSON: JSON is malformed: trailing characters (byte 31)",
    ),
    "NaN": (b'{"api": NaN}', "not JSON: JSON is malformed: invalid character (byte 8)"),
    "a list": (b"[]", "event: Expected `object`, got `array`"),
    "a number of 5,000 digits": (b"9" * 5_000, "event: Number out of range"),
    "an endless list": (b"[" * 100_000, "event: Expected `object`, got `array`"),
    "not UTF-8": (b'{"api": "\xff"}', "not UTF-8: 'utf-8' codec can't decode byte 0xff"),
    "half a pair of surrogates": (rb'{"api": "\ud800 alone"}', "not JSON: JSON is malformed"),
}


@pytest.mark.parametrize(("value", "reason"), NOT_EVEN_AN_OBJECT.values(), ids=NOT_EVEN_AN_OBJECT)
def test_what_does_not_parse_says_nothing_about_itself(value: bytes, reason: str) -> None:
    fault = refused(value)

    assert fault.reason.startswith(reason)
    assert str(fault) == fault.reason
    assert fault.code is ErrorCode.INVALID_REQUEST
    assert (fault.api, fault.version, fault.correlation_id, fault.group_id) == (None,) * 4


PARTITION = "body.topics[0].partitions[0]"


def in_partition(**fields: object) -> Json:
    return event("OffsetCommit", 8, groupId="g", topics=[{"partitions": [fields]}])


MISTAKES = {
    "no API": ({"version": 8}, "event: Object missing required field `api`"),
    "an API that is none": (commit(api="Fetch"), "api = Fetch: unknown"),
    "an API of no text": (commit(api=8), "api = 8: Expected `str`, got `int`"),
    "a version that is no int16": (
        commit(version=2**15),
        "version = 32768: Expected `int` <= 32767",
    ),
    "a version that is no number": (
        commit(version=True),
        "version = true: Expected `int`, got `bool`",
    ),
    "a slip in the envelope": (
        commit(correlationID="x"),
        "event: Object contains unknown field `correlationID`",
    ),
    "a negative partition": (
        commit(replyPartition=-1),
        "replyPartition = -1: Expected `int` >= 0",
    ),
    "a partition that is no int32": (
        commit(replyPartition=2**31),
        "replyPartition = 2147483648: Expected `int` <= 2147483647",
    ),
    "a partition that is no number": (
        commit(replyPartition="3"),
        'replyPartition = "3": Expected `int | null`, got `str`',
    ),
    "a partition that is no whole number": (
        commit(replyPartition=1.5),
        "replyPartition = 1.5: Expected `int | null`, got `float`",
    ),
    "no body": ({"api": "Heartbeat", "version": 0}, "body: is missing"),
    "a body that is null": (commit(body=None), "body = null: Expected `object`, got `null`"),
    "a slip in the body": (
        event("Heartbeat", 0, groupID="g"),
        "body: Object contains unknown field `groupID`",
    ),
    "a slip in a partition": (
        in_partition(partition=0),
        f"{PARTITION}: Object contains unknown field `partition`",
    ),
    "an int32 too large": (
        in_partition(partitionIndex=2**31),
        f"{PARTITION}.partitionIndex = 2147483648: Expected `int` <= 2147483647",
    ),
    "an int64 too small": (
        in_partition(committedOffset=-(2**63) - 1),
        f"{PARTITION}.committedOffset = -9223372036854775809: Expected `int` >= -9223372036854775808",
    ),
    "a number of no bound": (
        in_partition(committedOffset=10**30),
        f"{PARTITION}.committedOffset = {10**30}: Expected `int` <= 9223372036854775807",
    ),
    "a fraction": (
        in_partition(committedOffset=1.5),
        f"{PARTITION}.committedOffset = 1.5: Expected `int`, got `float`",
    ),
    "a number in quotes": (
        in_partition(committedOffset="42"),
        f'{PARTITION}.committedOffset = "42": Expected `int`, got `str`',
    ),
    "an object for a number": (
        in_partition(committedOffset={"a": 1}),
        f"{PARTITION}.committedOffset: Expected `int`, got `object`",
    ),
    "null where Kafka has none": (
        event("Heartbeat", 0, groupId=None),
        "body.groupId = null: Expected `str`, got `null`",
    ),
    "a topic without its name": (
        event("OffsetCommit", 8, topics=[{"name": None}]),
        "body.topics.name: must not be null",
    ),
    "a topic to fetch without its name": (
        event("OffsetFetch", 7, topics=[{"name": None}]),
        "body.topics.name: must not be null",
    ),
    "all topics, too early": (
        event("OffsetFetch", 1, topics=None),
        "body.topics: must not be null in version 1",
    ),
    "base64 without its padding": (
        event("SyncGroup", 0, assignments=[{"assignment": "AAA"}]),
        'body.assignments[0].assignment = "AAA": Invalid base64 encoded string',
    ),
    "url-safe base64": (
        event("SyncGroup", 0, assignments=[{"assignment": "A-_="}]),
        'body.assignments[0].assignment = "A-_=": Invalid base64 encoded string',
    ),
    "a uuid in hexadecimal": (
        event("OffsetCommit", 10, topics=[{"topicId": "123e4567-e89b-12d3-a456-426614174000"}]),
        'body.topics[0].topicId = "123e4567-e89b-12d3-a456-426614174000": Expected `str` matching',
    ),
    "a uuid with too many bits": (
        event("OffsetCommit", 10, topics=[{"topicId": "AAAAAAAAAAAAAAAAAAAAAB"}]),
        'body.topics[0].topicId = "AAAAAAAAAAAAAAAAAAAAAB": Expected `str` matching',
    ),
    "a string of a megabyte": (
        event("Heartbeat", 0, memberId="x" * 1_000_000),
        f'body.memberId = "{"x" * 99}...: Expected `str` of length <= 32767',
    ),
    "two groups to describe": (
        event("DescribeGroups", 0, groups=["a", "b"]),
        "body.groups: must have exactly one entry, not 2",
    ),
    "no group to describe": (
        event("DescribeGroups", 0),
        "body.groups: must have exactly one entry, not 0",
    ),
    "two groups to delete": (
        event("DeleteGroups", 2, groupsNames=["a", "b", "a"]),
        "body.groupsNames: must have exactly one entry, not 2",
    ),
    "two groups to fetch": (
        event("OffsetFetch", 8, groups=[{"groupId": "a"}, {"groupId": "a"}]),
        "body.groups: must have exactly one entry, not 2",
    ),
    "more partitions than any cluster has": (
        event(
            "TopicMetadata",
            0,
            groupId="g",
            topics=[
                {"name": "a", "topicId": "A" * 21 + "Q", "numPartitions": 600_000},
                {"name": "b", "topicId": "A" * 21 + "g", "numPartitions": 400_001},
            ],
        ),
        "body.topics.numPartitions = 1000001 together: more than 1000000",
    ),
    "a version of topics after which there is none": (
        event("TopicMetadata", 0, groupId="g", topics=[])
        | {"body": {"groupId": "g", "topics": [], "version": 2**62 + 1}},
        "body.version = 4611686018427387905: Expected `int` <= 4611686018427387904",
    ),
}


@pytest.mark.parametrize(("value", "reason"), MISTAKES.values(), ids=MISTAKES)
def test_the_reason_names_the_field_and_its_value(value: Json, reason: str) -> None:
    fault = refused(value)

    assert fault.reason.startswith(reason)
    assert len(fault.reason) < 250
    assert fault.code is ErrorCode.INVALID_REQUEST
    assert fault.correlation_id == value.get("correlationId")


@pytest.mark.parametrize(
    ("body", "group_id"),
    [
        ({"groupId": "g"}, "g"),
        ({"groups": ["g"]}, "g"),
        ({"groups": [{"groupId": "g"}]}, "g"),
        ({"groupsNames": ["g"]}, "g"),
        ({"groupIds": ["g"]}, "g"),
        ({"resources": [{"resourceType": 32, "resourceName": "g"}]}, "g"),
        ({"groups": ["g", "h"]}, None),
        ({"groups": [{}]}, None),
        ({"groups": "g"}, None),
        ({"groupId": 7}, None),
        ({"groupId": "x" * 2**15}, None),
        ({}, None),
        ("g", None),
    ],
    ids=str,
)
def test_the_group_is_found_wherever_the_api_names_it(body: object, group_id: str | None) -> None:
    assert refused(commit(version=99, body=body)).group_id == group_id


def test_a_number_too_long_for_anybody_hides_nobody() -> None:
    """Who asks is told, although the rest cannot be read."""
    digits = "9" * 5_000
    value = f'{{"api": "Heartbeat", "version": 4, "correlationId": "c", "body": {{"a": {digits}}}}}'

    with pytest.raises(InvalidEventError) as refusal:
        events.decode(value.encode())
    assert refusal.value.correlation_id == "c"
