from __future__ import annotations

import pytest

from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.requests import OffsetFetch, TopicPartitions
from group_coordinator.core.model.responses import (
    FetchedPartition,
    FetchedTopic,
    OffsetFetchResponse,
)
from tests.unit.codecs.apis.messages import read, written

ORDERS_ID = "4ksO1bcLSgCStYJnTlCVLg"


@pytest.mark.parametrize("version", range(1, 8))
def test_a_request_was_flat_until_version_7(version: int) -> None:
    body = {"groupId": "g", "topics": [{"name": "orders", "partitionIndexes": [0, 1]}]}

    topics = (TopicPartitions("orders", None, (0, 1)),)
    expected = OffsetFetch("g", None, None, topics, require_stable=False)
    assert read("OffsetFetch", version, body) == expected
    if version >= 2:
        everything = read("OffsetFetch", version, {"groupId": "g", "topics": None})
        assert everything == expected.replace(topics=None)
    if version == 7:
        stable = read("OffsetFetch", 7, body | {"requireStable": True})
        assert stable == expected.replace(require_stable=True)


@pytest.mark.parametrize("version", [8, 9, 10])
def test_a_request_carries_groups_since_version_8(version: int) -> None:
    topic = {"name": "orders", "topicId": ORDERS_ID, "partitionIndexes": [0, 1]}
    group = {"groupId": "g", "memberId": "m", "memberEpoch": 5, "topics": [topic]}

    names = (None, ORDERS_ID) if version == 10 else ("orders", None)
    member = ("m", 5) if version >= 9 else (None, None)
    topics = (TopicPartitions(*names, (0, 1)),)
    expected = OffsetFetch("g", *member, topics, require_stable=False)
    assert read("OffsetFetch", version, {"groups": [group]}) == expected
    everything = {"groups": [{"groupId": "g", "topics": None}], "requireStable": True}
    assert read("OffsetFetch", version, everything) == OffsetFetch(
        "g", None, None, None, require_stable=True
    )


FETCHED = OffsetFetchResponse(
    ErrorCode.NONE,
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
THROTTLE = '"throttleTimeMs":0'


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
def test_what_was_committed(versions: tuple[int, ...], expected: str) -> None:
    assert [written(FETCHED, version) for version in versions] == [expected] * len(versions)


def test_version_1_has_errors_of_partitions_only() -> None:
    refused = FETCHED.replace(error=ErrorCode.STALE_MEMBER_EPOCH)

    assert written(refused, 1).count('"errorCode":113') == 2
    assert written(refused, 2).endswith(f'{WITHOUT_EPOCHS}}}],"errorCode":113}}')
