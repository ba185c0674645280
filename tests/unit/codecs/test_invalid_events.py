from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from group_coordinator.codecs import events
from group_coordinator.codecs.apis.table import APIS
from group_coordinator.codecs.events import InvalidEventError
from group_coordinator.core.model.errors import ErrorCode

Json = dict[str, Any]


def commit(**fields: object) -> Json:
    partition = {"partitionIndex": 0, "committedOffset": 42, "committedMetadata": None}
    body = {"groupId": "g", "topics": [{"name": "orders", "partitions": [partition]}]}
    return {"api": "OffsetCommit", "version": 8, "correlationId": "c-17", "body": body} | fields


def event(api: str, version: int, **body: object) -> Json:
    return {"api": api, "version": version, "correlationId": "c-17", "body": body}


def refused(value: bytes | Json) -> InvalidEventError:
    text = value if isinstance(value, bytes) else json.dumps(value).encode()
    with pytest.raises(InvalidEventError) as refusal:
        events.decode(text)
    return refusal.value


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
    "a topic known twice": (
        event(
            "TopicMetadata",
            0,
            groupId="g",
            topics=[{"name": "a", "topicId": "A" * 22, "numPartitions": 1}] * 2,
        ),
        "body.topics.name = a: is there twice",
    ),
}


@pytest.mark.parametrize(("value", "reason"), MISTAKES.values(), ids=MISTAKES)
def test_the_reason_names_the_field_and_its_value(value: Json, reason: str) -> None:
    fault = refused(value)

    assert fault.reason.startswith(reason)
    assert len(fault.reason) < 250
    assert fault.code is ErrorCode.INVALID_REQUEST
    assert fault.correlation_id == value.get("correlationId")


UNKNOWN_TO_THE_VERSION = {
    ("JoinGroup", 4): {"groupInstanceId": "i"},
    ("SyncGroup", 2): {"groupInstanceId": "i"},
    ("Heartbeat", 2): {"groupInstanceId": ""},
    ("LeaveGroup", 2): {"members": [{}]},
    ("LeaveGroup", 3): {"memberId": "m"},
    ("OffsetCommit", 6): {"groupInstanceId": "i"},
    ("OffsetCommit", 2): {"topics": [{"name": "t", "partitions": [{"commitTimestamp": 0}]}]},
    ("OffsetFetch", 6): {"requireStable": True},
    ("OffsetFetch", 7): {"groups": [{}]},
    ("OffsetFetch", 8): {"topics": None},
    ("OffsetFetch", 10): {"groupId": "g"},
    ("DescribeGroups", 2): {"includeAuthorizedOperations": True},
}


@pytest.mark.parametrize("asked", UNKNOWN_TO_THE_VERSION, ids=str)
def test_a_field_that_the_version_does_not_know_is_refused(asked: tuple[str, int]) -> None:
    api, version = asked

    fault = refused(event(api, version, **UNKNOWN_TO_THE_VERSION[asked]))

    assert fault.reason.endswith(f": version {version} has no such field")
    assert fault.code is ErrorCode.INVALID_REQUEST


DEFAULTS_OF_UNKNOWN_FIELDS = {
    ("JoinGroup", 4): {"groupInstanceId": None},
    ("SyncGroup", 2): {"groupInstanceId": None},
    ("Heartbeat", 2): {"groupInstanceId": None},
    ("LeaveGroup", 2): {"members": []},
    ("LeaveGroup", 3): {"memberId": ""},
    ("OffsetCommit", 6): {"groupInstanceId": None},
    ("OffsetCommit", 2): {"topics": [{"name": "t", "partitions": [{"commitTimestamp": -1}]}]},
    ("OffsetFetch", 6): {"requireStable": False, "groups": []},
    ("OffsetFetch", 10): {"groupId": "", "topics": [], "groups": [{"groupId": "g"}]},
    ("DescribeGroups", 2): {"groups": ["g"], "includeAuthorizedOperations": False},
}


@pytest.mark.parametrize("asked", DEFAULTS_OF_UNKNOWN_FIELDS, ids=str)
def test_an_unknown_field_may_have_its_default(asked: tuple[str, int]) -> None:
    api, version = asked
    value = event(api, version, **DEFAULTS_OF_UNKNOWN_FIELDS[asked])

    assert events.decode(json.dumps(value).encode()).version == version


@pytest.mark.parametrize("api", APIS)
def test_a_version_out_of_range_is_not_supported(api: str) -> None:
    first, last = APIS[api].versions[0], APIS[api].versions[-1]

    for version in (first - 1, last + 1):
        fault = refused(event(api, version, groupId="g"))
        assert fault.code is ErrorCode.UNSUPPORTED_VERSION
        assert fault.reason == f"version = {version}: {api} is supported from {first} to {last}"
        assert (fault.api, fault.correlation_id, fault.group_id) == (api, "c-17", "g")
    assert fault.version == last + 1


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


@pytest.mark.parametrize(
    ("key", "entry"),
    [
        ("groupId", '"groupId": "g"'),
        ("partitionIndex", '"partitionIndex": 0'),
        ("version", '"version": 8'),
        ("name", '"name": "orders"'),
    ],
)
def test_no_key_may_come_twice(key: str, entry: str) -> None:
    text = json.dumps(commit()).replace(entry, f"{entry} , {entry}")

    fault = refused(text.encode())

    assert fault.reason == f"{key}: is there twice"
    assert fault.correlation_id == "c-17"


def test_escapes_and_colons_are_no_duplicates() -> None:
    value = json.dumps(commit()).encode()

    for written in (rb'"\u0067"', b'":g:"', rb'"\":"', '"é"'.encode()):
        said = value.replace(b'"groupId": "g"', b'"groupId" :\t' + written)
        assert events.decode(said).request.group_id == json.loads(written)


plain = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10)
trees = st.recursive(
    plain,
    lambda children: (
        st.lists(children, max_size=3) | st.dictionaries(st.text(max_size=5), children, max_size=3)
    ),
    max_leaves=8,
)
sensible = [
    commit(),
    commit(version=10),
    event("JoinGroup", 9, groupId="g", protocols=[{"name": "range", "metadata": "AAE="}]),
    event("SyncGroup", 5, groupId="g", assignments=[{"memberId": "m", "assignment": "AAE="}]),
    event("LeaveGroup", 5, groupId="g", members=[{"memberId": "m"}]),
    event("OffsetFetch", 9, groups=[{"groupId": "g", "topics": None}], requireStable=True),
    event("OffsetDelete", 0, groupId="g", topics=[{"partitions": [{"partitionIndex": 1}]}]),
    event("TopicMetadata", 0, groupId="g", topics=[], deletedTopics=[]),
]


def complaint(value: bytes) -> str:
    try:
        events.decode(value)
    except InvalidEventError as fault:
        return fault.reason
    return ""


@given(st.binary(max_size=100))
@example(b'{"api":"Tick","version":0,"body":' + b"[" * 2_000 + b"]" * 2_000 + b"}")
@example(b'{"api":"Tick","version":0,"body":{"groupId":' + b"9" * 5_000 + b"}}")
@example(b'{"api":"Tick","version":1' + b"0" * 400 + b"}")
@example(b'{"api":"Tick","version":1e400}')
def test_arbitrary_bytes(value: bytes) -> None:
    assert len(complaint(value)) < 400


@given(trees)
def test_arbitrary_json(tree: object) -> None:
    assert len(complaint(json.dumps(tree).encode())) < 400


@given(st.sampled_from(sensible), trees, st.data())
def test_an_event_with_something_else_somewhere(
    value: Json, misfit: object, data: st.DataObject
) -> None:
    changed: Any = json.loads(json.dumps(value))
    node = changed
    while True:
        at = data.draw(
            st.sampled_from(range(len(node)) if isinstance(node, list) else sorted(node))
        )
        if not isinstance(node[at], list | dict) or not node[at] or data.draw(st.booleans()):
            break
        node = node[at]
    node[at] = misfit

    assert len(complaint(json.dumps(changed).encode())) < 400


@given(st.sampled_from(sensible), st.data())
def test_an_event_with_damaged_bytes(value: Json, data: st.DataObject) -> None:
    text = json.dumps(value).encode()
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 5)))

    assert len(complaint(text[:start] + data.draw(st.binary(max_size=3)) + text[end:])) < 400


@pytest.mark.parametrize("is_escaped", [True, False])
def test_a_text_has_as_many_bytes_as_kafka_can_write(is_escaped: bool) -> None:  # noqa: FBT001
    def heartbeat(member_id: str) -> bytes:
        body = {"groupId": "g", "generationId": 1, "memberId": member_id}
        event = {"api": "Heartbeat", "version": 4, "body": body}
        return json.dumps(event, ensure_ascii=is_escaped).encode()

    longest = "\u00fc" * 16_383 + "u"
    assert events.decode(heartbeat(longest)).request.member_id == longest

    with pytest.raises(InvalidEventError, match=r"body\.memberId = .* is longer than 32767 bytes"):
        events.decode(heartbeat(longest + "u"))
