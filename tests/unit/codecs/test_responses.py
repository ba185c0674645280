"""Every body here was compared with what Kafka's own converters print for that version."""

from __future__ import annotations

import json

import msgspec
import pytest

from group_coordinator.codecs import responses
from group_coordinator.codecs.events import InvalidEventError
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.responses import (
    DeleteGroupResponse,
    DescribedMember,
    DescribeGroupResponse,
    FetchedPartition,
    FetchedTopic,
    HeartbeatResponse,
    JoinedMember,
    JoinGroupResponse,
    LeaveGroupResponse,
    MemberResult,
    OffsetCommitResponse,
    OffsetDeleteResponse,
    OffsetFetchResponse,
    PartitionResult,
    Reply,
    Response,
    SyncGroupResponse,
    TopicResult,
)
from group_coordinator.core.model.ticket import Ticket

NONE = ErrorCode.NONE
ORDERS_ID = "4ksO1bcLSgCStYJnTlCVLg"


def written(content: object) -> str:
    return msgspec.json.encode(content).decode()


def body(response: Response, version: int) -> str:
    reply = Reply(Ticket("events-3-1742", "c-17", version), response)
    text = written(responses.to_json("g", reply, 1_000))
    of_the_body = text.partition('"body":')[2].removesuffix("}")
    assert json.loads(text)["body"] == json.loads(of_the_body)
    return of_the_body


def test_a_response_says_what_it_answers() -> None:
    reply = Reply(Ticket("group-events-3-1742", "c-17", 4), HeartbeatResponse(NONE))

    assert written(responses.to_json("g", reply, 1_700_000_000_000)) == (
        '{"id":"group-events-3-1742","correlationId":"c-17","api":"Heartbeat","version":4,"groupId":"g",'
        '"at":1700000000000,"body":{"throttleTimeMs":0,"errorCode":0}}'
    )


def test_an_event_that_is_no_request_is_answered_too() -> None:
    fault = InvalidEventError(
        "api = Fetch: unknown",
        ErrorCode.INVALID_REQUEST,
        api="Fetch",
        version=12,
        correlation_id="c-18",
    )

    assert written(responses.refusal_to_json("g", "group-events-3-1743", fault, 1_000)) == (
        '{"id":"group-events-3-1743","correlationId":"c-18","api":"Fetch","version":12,"groupId":"g",'
        '"at":1000,"body":{"errorCode":42,"errorMessage":"api = Fetch: unknown"}}'
    )


LEADER = JoinGroupResponse(
    NONE,
    "m",
    4,
    "consumer",
    "range",
    "m",
    members=(JoinedMember("m", "i", b"\x00\x01"),),
)
OLD_MEMBERS = '"members":[{"memberId":"m","metadata":"AAE="}]'
MEMBERS = '"members":[{"memberId":"m","groupInstanceId":"i","metadata":"AAE="}]'
GENERATION = '"errorCode":0,"generationId":4'
THROTTLE = '"throttleTimeMs":0'


@pytest.mark.parametrize(
    ("versions", "expected"),
    [
        (
            (0, 1),
            f'{{{GENERATION},"protocolName":"range","leader":"m","memberId":"m",{OLD_MEMBERS}}}',
        ),
        (
            (2, 3, 4),
            f'{{{THROTTLE},{GENERATION},"protocolName":"range","leader":"m","memberId":"m",{OLD_MEMBERS}}}',
        ),
        (
            (5, 6),
            f'{{{THROTTLE},{GENERATION},"protocolName":"range","leader":"m","memberId":"m",{MEMBERS}}}',
        ),
        (
            (7, 8),
            (
                f'{{{THROTTLE},{GENERATION},"protocolType":"consumer","protocolName":"range","leader":"m",'
                f'"memberId":"m",{MEMBERS}}}'
            ),
        ),
        (
            (9,),
            (
                f'{{{THROTTLE},{GENERATION},"protocolType":"consumer","protocolName":"range","leader":"m",'
                f'"skipAssignment":false,"memberId":"m",{MEMBERS}}}'
            ),
        ),
    ],
)
def test_join_group(versions: tuple[int, ...], expected: str) -> None:
    assert [body(LEADER, version) for version in versions] == [expected] * len(versions)


def test_a_join_that_is_refused_names_no_protocol() -> None:
    refusal = JoinGroupResponse(ErrorCode.MEMBER_ID_REQUIRED, "m")

    assert body(refusal, 6) == (
        '{"throttleTimeMs":0,"errorCode":79,"generationId":-1,"protocolName":"","leader":"",'
        '"memberId":"m","members":[]}'
    )
    assert body(refusal, 9) == (
        '{"throttleTimeMs":0,"errorCode":79,"generationId":-1,"protocolType":null,"protocolName":null,'
        '"leader":"","skipAssignment":false,"memberId":"m","members":[]}'
    )


@pytest.mark.parametrize(
    ("versions", "expected"),
    [
        ((0,), '{"errorCode":0,"assignment":"AAE="}'),
        ((1, 2, 3, 4), '{"throttleTimeMs":0,"errorCode":0,"assignment":"AAE="}'),
        (
            (5,),
            (
                '{"throttleTimeMs":0,"errorCode":0,"protocolType":"consumer","protocolName":"range",'
                '"assignment":"AAE="}'
            ),
        ),
    ],
)
def test_sync_group(versions: tuple[int, ...], expected: str) -> None:
    response = SyncGroupResponse(NONE, "consumer", "range", b"\x00\x01")

    assert [body(response, version) for version in versions] == [expected] * len(versions)


def test_a_sync_that_is_refused() -> None:
    assert body(SyncGroupResponse(ErrorCode.UNKNOWN_MEMBER_ID), 5) == (
        '{"throttleTimeMs":0,"errorCode":25,"protocolType":null,"protocolName":null,"assignment":""}'
    )


def test_heartbeat() -> None:
    response = HeartbeatResponse(ErrorCode.REBALANCE_IN_PROGRESS)

    assert body(response, 0) == '{"errorCode":27}'
    for version in (1, 2, 3, 4):
        assert body(response, version) == '{"throttleTimeMs":0,"errorCode":27}'


def test_leave_group_answered_for_one_member_at_first() -> None:
    gone = LeaveGroupResponse(NONE, (MemberResult("m", None, NONE),))
    unknown = LeaveGroupResponse(NONE, (MemberResult("m", None, ErrorCode.UNKNOWN_MEMBER_ID),))
    refused = LeaveGroupResponse(ErrorCode.INVALID_GROUP_ID)

    assert body(gone, 0) == '{"errorCode":0}'
    assert body(unknown, 0) == '{"errorCode":25}'
    for version in (1, 2):
        assert body(unknown, version) == '{"throttleTimeMs":0,"errorCode":25}'
        assert body(refused, version) == '{"throttleTimeMs":0,"errorCode":24}'


@pytest.mark.parametrize("version", [3, 4, 5])
def test_leave_group_answers_for_each_member(version: int) -> None:
    results = (MemberResult("m", None, NONE), MemberResult("", "i", ErrorCode.UNKNOWN_MEMBER_ID))

    assert body(LeaveGroupResponse(NONE, results), version) == (
        '{"throttleTimeMs":0,"errorCode":0,"members":['
        '{"memberId":"m","groupInstanceId":null,"errorCode":0},'
        '{"memberId":"","groupInstanceId":"i","errorCode":25}]}'
    )
    assert body(LeaveGroupResponse(ErrorCode.INVALID_GROUP_ID), version) == (
        '{"throttleTimeMs":0,"errorCode":24,"members":[]}'
    )


PARTITION_RESULTS = (PartitionResult(0, NONE), PartitionResult(1, ErrorCode.ILLEGAL_GENERATION))
RESULTS = '"partitions":[{"partitionIndex":0,"errorCode":0},{"partitionIndex":1,"errorCode":22}]'


@pytest.mark.parametrize(
    ("versions", "expected"),
    [
        ((1, 2), f'{{"topics":[{{"name":"orders",{RESULTS}}}]}}'),
        (tuple(range(3, 10)), f'{{{THROTTLE},"topics":[{{"name":"orders",{RESULTS}}}]}}'),
        ((10,), f'{{{THROTTLE},"topics":[{{"topicId":"{ORDERS_ID}",{RESULTS}}}]}}'),
    ],
)
def test_offset_commit(versions: tuple[int, ...], expected: str) -> None:
    response = OffsetCommitResponse((TopicResult("orders", ORDERS_ID, PARTITION_RESULTS),))

    assert [body(response, version) for version in versions] == [expected] * len(versions)


def test_a_topic_without_id_has_the_id_zero() -> None:
    unknown = (PartitionResult(0, ErrorCode.UNKNOWN_TOPIC_ID),)

    assert body(OffsetCommitResponse((TopicResult(None, None, unknown),)), 10) == (
        '{"throttleTimeMs":0,"topics":[{"topicId":"AAAAAAAAAAAAAAAAAAAAAA",'
        '"partitions":[{"partitionIndex":0,"errorCode":100}]}]}'
    )


FETCHED = OffsetFetchResponse(
    NONE,
    "g",
    (FetchedTopic("orders", ORDERS_ID, (FetchedPartition(0, 42, 3, "x"), FetchedPartition(1))),),
)
WITHOUT_EPOCHS = (
    '"partitions":[{"partitionIndex":0,"committedOffset":42,"metadata":"x","errorCode":0},'
    '{"partitionIndex":1,"committedOffset":-1,"metadata":"","errorCode":0}]'
)
WITH_EPOCHS = (
    '"partitions":[{"partitionIndex":0,"committedOffset":42,"committedLeaderEpoch":3,"metadata":"x",'
    '"errorCode":0},{"partitionIndex":1,"committedOffset":-1,"committedLeaderEpoch":-1,"metadata":"",'
    '"errorCode":0}]'
)
BY_NAME = f'"topics":[{{"name":"orders",{WITH_EPOCHS}}}]'
BY_ID = f'"topics":[{{"topicId":"{ORDERS_ID}",{WITH_EPOCHS}}}]'


@pytest.mark.parametrize(
    ("versions", "expected"),
    [
        ((1,), f'{{"topics":[{{"name":"orders",{WITHOUT_EPOCHS}}}]}}'),
        ((2,), f'{{"topics":[{{"name":"orders",{WITHOUT_EPOCHS}}}],"errorCode":0}}'),
        (
            (3, 4),
            f'{{{THROTTLE},"topics":[{{"name":"orders",{WITHOUT_EPOCHS}}}],"errorCode":0}}',
        ),
        ((5, 6, 7), f'{{{THROTTLE},{BY_NAME},"errorCode":0}}'),
        ((8, 9), f'{{{THROTTLE},"groups":[{{"groupId":"g",{BY_NAME},"errorCode":0}}]}}'),
        ((10,), f'{{{THROTTLE},"groups":[{{"groupId":"g",{BY_ID},"errorCode":0}}]}}'),
    ],
)
def test_offset_fetch(versions: tuple[int, ...], expected: str) -> None:
    assert [body(FETCHED, version) for version in versions] == [expected] * len(versions)


def test_offset_fetch_1_has_errors_of_partitions_only() -> None:
    refused = FETCHED.replace(error=ErrorCode.STALE_MEMBER_EPOCH)

    assert body(refused, 1).count('"errorCode":113') == 2
    assert body(refused, 2).endswith(f'{WITHOUT_EPOCHS}}}],"errorCode":113}}')


def test_offset_delete() -> None:
    response = OffsetDeleteResponse(NONE, (TopicResult("orders", None, PARTITION_RESULTS),))

    assert body(response, 0) == (
        f'{{"errorCode":0,"throttleTimeMs":0,"topics":[{{"name":"orders",{RESULTS}}}]}}'
    )
    assert body(OffsetDeleteResponse(ErrorCode.NON_EMPTY_GROUP), 0) == (
        '{"errorCode":68,"throttleTimeMs":0,"topics":[]}'
    )


@pytest.mark.parametrize("version", [0, 1, 2])
def test_delete_groups(version: int) -> None:
    assert body(DeleteGroupResponse(ErrorCode.NON_EMPTY_GROUP, "g"), version) == (
        '{"throttleTimeMs":0,"results":[{"groupId":"g","errorCode":68}]}'
    )


DESCRIBED = DescribeGroupResponse(
    NONE,
    None,
    "g",
    "Stable",
    "consumer",
    "range",
    (DescribedMember("m", "i", "client", "/10.0.0.1", b"\x00\x01", b"\x00"),),
)
STATE = '"groupId":"g","groupState":"Stable","protocolType":"consumer","protocolData":"range"'
CLIENT = (
    '"clientId":"client","clientHost":"/10.0.0.1","memberMetadata":"AAE=","memberAssignment":"AA=="'
)
OLD_MEMBER = f'"members":[{{"memberId":"m",{CLIENT}}}]'
MEMBER = f'"members":[{{"memberId":"m","groupInstanceId":"i",{CLIENT}}}]'
NO_OPERATIONS = '"authorizedOperations":-2147483648'


@pytest.mark.parametrize(
    ("versions", "expected"),
    [
        ((0,), f'{{"groups":[{{"errorCode":0,{STATE},{OLD_MEMBER}}}]}}'),
        ((1, 2), f'{{{THROTTLE},"groups":[{{"errorCode":0,{STATE},{OLD_MEMBER}}}]}}'),
        ((3,), f'{{{THROTTLE},"groups":[{{"errorCode":0,{STATE},{OLD_MEMBER},{NO_OPERATIONS}}}]}}'),
        ((4, 5), f'{{{THROTTLE},"groups":[{{"errorCode":0,{STATE},{MEMBER},{NO_OPERATIONS}}}]}}'),
        (
            (6,),
            f'{{{THROTTLE},"groups":[{{"errorCode":0,"errorMessage":null,{STATE},{MEMBER},{NO_OPERATIONS}}}]}}',
        ),
    ],
)
def test_describe_groups(versions: tuple[int, ...], expected: str) -> None:
    assert [body(DESCRIBED, version) for version in versions] == [expected] * len(versions)


def test_describe_groups_6_says_why_there_is_nothing() -> None:
    response = DescribeGroupResponse(
        ErrorCode.GROUP_ID_NOT_FOUND, "Group g not found.", "g", "Dead"
    )

    assert body(response, 6) == (
        '{"throttleTimeMs":0,"groups":[{"errorCode":69,"errorMessage":"Group g not found.","groupId":"g",'
        '"groupState":"Dead","protocolType":"","protocolData":"","members":[],'
        '"authorizedOperations":-2147483648}]}'
    )
