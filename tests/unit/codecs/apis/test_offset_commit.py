from __future__ import annotations

from typing import Any

import pytest

from group_coordinator.codecs.events import InvalidEventError
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.requests import OffsetCommit, PartitionCommit, TopicCommit
from group_coordinator.core.model.responses import (
    OffsetCommitResponse,
    PartitionResult,
    TopicResult,
)
from tests.unit.codecs.apis.messages import read, written

Body = dict[str, Any]
ORDERS_ID = "4ksO1bcLSgCStYJnTlCVLg"
ZERO_ID = "AAAAAAAAAAAAAAAAAAAAAA"


def body_of_a_commit(topic: Body, partition: Body, **fields: object) -> Body:
    entry = {"partitionIndex": 2, "committedOffset": 42} | partition
    return {"groupId": "g", "topics": [topic | {"partitions": [entry]}]} | fields


def committed(
    name: str | None = "orders",
    topic_id: str | None = None,
    leader_epoch: int | None = None,
    metadata: str | None = "",
    commit_timestamp_ms: int | None = None,
    retention_time_ms: int | None = None,
) -> OffsetCommit:
    entry = PartitionCommit(2, 42, leader_epoch, metadata, commit_timestamp_ms)
    return OffsetCommit(
        group_id="g",
        generation=None,
        member_id="",
        group_instance_id=None,
        retention_time_ms=retention_time_ms,
        topics=(TopicCommit(name, topic_id, (entry,)),),
    )


@pytest.mark.parametrize("version", range(1, 11))
def test_a_commit_without_a_member_is_an_administrators(version: int) -> None:
    topic = {"topicId": ORDERS_ID} if version >= 10 else {"name": "orders"}
    body = body_of_a_commit(topic, {}, generationIdOrMemberEpoch=-1, memberId="")

    expected = committed(None, ORDERS_ID) if version >= 10 else committed()
    assert read("OffsetCommit", version, body) == expected
    assert read("OffsetCommit", version, body_of_a_commit(topic, {})) == expected


@pytest.mark.parametrize("version", range(1, 11))
def test_retention_time_was_in_versions_2_to_4(version: int) -> None:
    body = body_of_a_commit({"name": "orders", "topicId": ORDERS_ID}, {}, retentionTimeMs=5_000)

    commit = read("OffsetCommit", version, body)
    assert isinstance(commit, OffsetCommit)
    assert commit.retention_time_ms == (5_000 if version in (2, 3, 4) else None)
    unlimited = read("OffsetCommit", version, body | {"retentionTimeMs": -1})
    assert unlimited == commit.replace(retention_time_ms=None)


@pytest.mark.parametrize("version", range(1, 11))
def test_leader_epochs_came_with_version_6(version: int) -> None:
    body = body_of_a_commit({"name": "orders", "topicId": ORDERS_ID}, {"committedLeaderEpoch": 7})

    commit = read("OffsetCommit", version, body)
    assert isinstance(commit, OffsetCommit)
    assert commit.topics[0].partitions[0].leader_epoch == (7 if version >= 6 else None)


def test_version_1_may_give_its_own_time() -> None:
    named = {"name": "orders"}

    timed = body_of_a_commit(named, {"commitTimestamp": 99})
    assert read("OffsetCommit", 1, timed) == committed(commit_timestamp_ms=99)
    untimed = body_of_a_commit(named, {"commitTimestamp": -1})
    assert read("OffsetCommit", 1, untimed) == committed()
    assert read("OffsetCommit", 2, untimed) == committed()


def test_version_10_goes_by_topic_id() -> None:
    by_id = body_of_a_commit({"name": "ignored", "topicId": ORDERS_ID}, {})
    assert read("OffsetCommit", 10, by_id) == committed(None, ORDERS_ID)
    by_name = body_of_a_commit({"name": "orders", "topicId": ORDERS_ID}, {})
    assert read("OffsetCommit", 9, by_name) == committed("orders", None)
    for nameless in ({"topicId": ZERO_ID}, {}):
        assert read("OffsetCommit", 10, body_of_a_commit(nameless, {})) == committed(None, None)


def test_metadata_may_be_null() -> None:
    body = body_of_a_commit({"name": "orders"}, {"committedMetadata": None})

    assert read("OffsetCommit", 8, body) == committed(metadata=None)


@pytest.mark.parametrize("version", range(1, 11))
def test_an_administrator_may_say_that_it_is_a_reset_or_a_restore(version: int) -> None:
    topic = {"topicId": ORDERS_ID} if version >= 10 else {"name": "orders"}
    expected = committed(None, ORDERS_ID) if version >= 10 else committed()

    reset = body_of_a_commit(topic, {}, isReset=True)
    assert read("OffsetCommit", version, reset) == expected.replace(is_reset=True)
    restore = body_of_a_commit(topic, {}, isRestore=True)
    assert read("OffsetCommit", version, restore) == expected.replace(is_restore=True)
    assert read("OffsetCommit", version, body_of_a_commit(topic, {}, isReset=False)) == expected


@pytest.mark.parametrize(
    "member",
    [{"memberId": "m"}, {"generationIdOrMemberEpoch": 0}, {"groupInstanceId": "i"}],
)
@pytest.mark.parametrize("field", ["isReset", "isRestore"])
def test_a_member_cannot_reset_or_restore(member: Body, field: str) -> None:
    marked = body_of_a_commit({"name": "orders"}, {}, **{field: True}, **member)

    with pytest.raises(
        InvalidEventError, match=rf"body\.{field} = true: must not come from a member"
    ):
        read("OffsetCommit", 8, marked)


PARTITION_RESULTS = (
    PartitionResult(0, ErrorCode.NONE),
    PartitionResult(1, ErrorCode.ILLEGAL_GENERATION),
)
RESULTS = '"partitions":[{"partitionIndex":0,"errorCode":0},{"partitionIndex":1,"errorCode":22}]'
THROTTLE = '"throttleTimeMs":0'


@pytest.mark.parametrize(
    ("versions", "expected"),
    [
        ((1, 2), f'{{"topics":[{{"name":"orders",{RESULTS}}}]}}'),
        (tuple(range(3, 10)), f'{{{THROTTLE},"topics":[{{"name":"orders",{RESULTS}}}]}}'),
        ((10,), f'{{{THROTTLE},"topics":[{{"topicId":"{ORDERS_ID}",{RESULTS}}}]}}'),
    ],
)
def test_each_partition_has_its_error(versions: tuple[int, ...], expected: str) -> None:
    response = OffsetCommitResponse((TopicResult("orders", ORDERS_ID, PARTITION_RESULTS),))

    assert [written(response, version) for version in versions] == [expected] * len(versions)


def test_a_topic_without_id_has_the_id_zero() -> None:
    unknown = (PartitionResult(0, ErrorCode.UNKNOWN_TOPIC_ID),)

    assert written(OffsetCommitResponse((TopicResult(None, None, unknown),)), 10) == (
        '{"throttleTimeMs":0,"topics":[{"topicId":"AAAAAAAAAAAAAAAAAAAAAA",'
        '"partitions":[{"partitionIndex":0,"errorCode":100}]}]}'
    )
