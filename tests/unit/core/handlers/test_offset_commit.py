from __future__ import annotations

import pytest

from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.offset import CommittedOffset
from group_coordinator.core.model.records import OffsetRecord, Reason
from group_coordinator.core.model.requests import OffsetCommit
from group_coordinator.core.model.responses import (
    OffsetCommitResponse,
    PartitionResult,
    TopicResult,
)
from group_coordinator.core.model.states import ClassicState
from group_coordinator.core.model.topic import Topic
from group_coordinator.testing import GroupDriver, Outcome
from tests.unit.core import requests
from tests.unit.core.groups_in_every_state import stable, state_of
from tests.unit.core.requests import at_offset

ORDERS = Topic("orders", "4ksO1bcLSgCStYJnTlCVLg", 2)


def error_of(outcome: Outcome[OffsetCommitResponse]) -> ErrorCode:
    (topic,) = outcome.response.topics
    (partition,) = topic.partitions
    return partition.error


def test_a_commit_without_a_group_makes_a_simple_one() -> None:
    driver = GroupDriver(start_ms=1_000)

    outcome = driver.commit({"orders": {0: 42, 1: 43}}, metadata="m")

    assert outcome.records == (
        OffsetRecord(
            "orders",
            0,
            CommittedOffset(
                offset=42,
                leader_epoch=None,
                metadata="m",
                commit_timestamp_ms=1_000,
                expire_timestamp_ms=None,
                topic_id=None,
            ),
            Reason.OFFSET_COMMIT,
        ),
        OffsetRecord(
            "orders",
            1,
            CommittedOffset(
                offset=43,
                leader_epoch=None,
                metadata="m",
                commit_timestamp_ms=1_000,
                expire_timestamp_ms=None,
                topic_id=None,
            ),
            Reason.OFFSET_COMMIT,
        ),
    )
    assert outcome.response == OffsetCommitResponse(
        (
            TopicResult(
                "orders",
                None,
                (PartitionResult(0, ErrorCode.NONE), PartitionResult(1, ErrorCode.NONE)),
            ),
        )
    )
    assert driver.describe().response.protocol_type == ""
    assert state_of(driver) is ClassicState.EMPTY


def test_all_that_a_commit_says_is_stored() -> None:
    driver = GroupDriver()
    entry = at_offset(-7, 3, leader_epoch=5, metadata="note")

    driver.send(requests.commit(entry), 8)

    assert driver.group.offsets == {
        "orders": {
            3: CommittedOffset(
                offset=-7,
                leader_epoch=5,
                metadata="note",
                commit_timestamp_ms=0,
                expire_timestamp_ms=None,
                topic_id=None,
            )
        }
    }


def test_offsets_may_go_backward() -> None:
    driver = GroupDriver()
    driver.commit({"orders": {0: 42}})

    driver.commit({"orders": {0: 41}})

    assert driver.group.offsets["orders"][0].offset == 41


def test_version_1_may_give_its_own_commit_time() -> None:
    driver = GroupDriver(start_ms=1_000)

    driver.send(requests.commit(at_offset(1, commit_timestamp_ms=7)), 1)

    assert driver.group.offsets["orders"][0].commit_timestamp_ms == 7


@pytest.mark.parametrize(
    ("retention_ms", "expire_timestamp_ms"), [(None, None), (0, 1_000), (60_000, 61_000)]
)
def test_versions_2_to_4_may_give_a_retention_time(
    retention_ms: int | None, expire_timestamp_ms: int | None
) -> None:
    driver = GroupDriver(start_ms=1_000)

    driver.commit({"orders": {0: 1}}, retention_ms=retention_ms, version=4)

    assert driver.group.offsets["orders"][0].expire_timestamp_ms == expire_timestamp_ms


def test_a_later_commit_lifts_an_explicit_expiry() -> None:
    driver = GroupDriver()
    driver.commit({"orders": {0: 1}}, retention_ms=60_000, version=4)

    driver.commit({"orders": {0: 1}})

    assert driver.group.offsets["orders"][0].expire_timestamp_ms is None


def test_metadata_has_a_greatest_length_and_others_are_stored_all_the_same() -> None:
    driver = GroupDriver(offset_metadata_max_bytes=4)
    entries = [
        at_offset(1, 0, metadata="1234"),
        at_offset(1, 1, metadata="12345"),
        at_offset(1, 2, metadata="12😀"),
        at_offset(1, 3, metadata="123😀"),
        at_offset(1, 4, metadata="ßßßß"),
    ]

    outcome = driver.send(requests.commit(*entries), 8)

    none, too_large = ErrorCode.NONE, ErrorCode.OFFSET_METADATA_TOO_LARGE
    assert outcome.response.topics[0].partitions == (
        *(PartitionResult(0, none), PartitionResult(1, too_large), PartitionResult(2, none)),
        *(PartitionResult(3, too_large), PartitionResult(4, none)),
    )
    assert sorted(driver.group.offsets["orders"]) == [0, 2, 4]


def test_a_commit_of_which_nothing_is_taken_makes_a_group_too() -> None:
    driver = GroupDriver(offset_metadata_max_bytes=0)

    outcome = driver.commit({"orders": {0: 1}}, metadata="x")

    assert outcome.records == ()
    assert state_of(driver) is ClassicState.EMPTY


def test_a_reset_is_a_commit_with_a_reason_of_its_own() -> None:
    driver = GroupDriver()
    driver.commit({"orders": {0: 40}})

    outcome = driver.send(requests.commit(at_offset(5)).replace(is_reset=True), 8)

    assert error_of(outcome) is ErrorCode.NONE
    assert [record.reason for record in outcome.records] == [Reason.OFFSET_RESET]
    assert driver.group.offsets["orders"][0].offset == 5


def test_a_commit_of_nothing_makes_no_group() -> None:
    driver = GroupDriver()

    outcome = driver.send(
        OffsetCommit(
            group_id="g",
            generation=None,
            member_id="",
            group_instance_id=None,
            retention_time_ms=None,
            topics=(),
        ),
        8,
    )

    assert outcome.response == OffsetCommitResponse(())
    assert state_of(driver) is ClassicState.DEAD


@pytest.mark.parametrize(
    ("version", "error"), [(8, ErrorCode.ILLEGAL_GENERATION), (9, ErrorCode.GROUP_ID_NOT_FOUND)]
)
def test_a_generation_without_a_group(version: int, error: ErrorCode) -> None:
    outcome = GroupDriver().commit({"orders": {0: 1}}, "m", 1, version=version)

    assert error_of(outcome) is error
    assert outcome.records == ()


def test_a_member_commits() -> None:
    driver = GroupDriver()
    (member_id,) = driver.form()

    outcome = driver.commit({"orders": {0: 1}}, member_id, 1)

    assert error_of(outcome) is ErrorCode.NONE
    assert len(outcome.records) == 1


def test_a_commit_keeps_the_session() -> None:
    driver = GroupDriver()
    (member_id,) = driver.form()
    driver.at(12_000)

    driver.commit({"orders": {0: 1}}, member_id, 1)

    assert driver.next_deadline_ms == 22_000


@pytest.mark.parametrize(
    ("member", "generation", "error"),
    [
        ("", None, ErrorCode.UNKNOWN_MEMBER_ID),
        ("", 1, ErrorCode.UNKNOWN_MEMBER_ID),
        ("nobody", 1, ErrorCode.UNKNOWN_MEMBER_ID),
        ("member", None, ErrorCode.ILLEGAL_GENERATION),
        ("member", 0, ErrorCode.ILLEGAL_GENERATION),
        ("member", 2, ErrorCode.ILLEGAL_GENERATION),
    ],
)
def test_others_may_not_commit_to_a_live_group(
    member: str, generation: int | None, error: ErrorCode
) -> None:
    driver = GroupDriver()
    (member_id,) = driver.form()
    sender = member_id if member == "member" else member

    outcome = driver.commit({"orders": {0: 1}}, sender, generation)

    assert error_of(outcome) is error
    assert outcome.records == ()


@pytest.mark.parametrize(
    ("member", "instance_id", "error"),
    [
        ("the static one", "i", ErrorCode.NONE),
        ("the static one", "unknown", ErrorCode.UNKNOWN_MEMBER_ID),
        ("another one", "i", ErrorCode.FENCED_INSTANCE_ID),
    ],
)
def test_a_member_must_be_who_it_says(member: str, instance_id: str, error: ErrorCode) -> None:
    driver = GroupDriver()
    _, follower, static_id = stable(driver, static="i")
    sender = static_id if member == "the static one" else follower
    request = requests.commit(member_id=sender, generation=1, instance_id=instance_id)

    assert error_of(driver.send(request, 8)) is error


def test_an_instance_id_alone_is_no_administrator() -> None:
    driver = GroupDriver()
    stable(driver, static="i")

    outcome = driver.send(requests.commit(instance_id="i"), 8)

    assert error_of(outcome) is ErrorCode.FENCED_INSTANCE_ID


def test_in_a_join_phase_the_last_generation_may_still_commit() -> None:
    driver = GroupDriver()
    leader, follower = driver.form(2)
    driver.join(leader)

    assert error_of(driver.commit({"orders": {0: 1}}, follower, 1)) is ErrorCode.NONE
    assert error_of(driver.commit({"orders": {0: 1}})) is ErrorCode.UNKNOWN_MEMBER_ID


def test_while_the_leader_assigns_nobody_may_commit() -> None:
    driver = GroupDriver()
    leader, follower = driver.form(2)
    driver.join(leader)
    driver.join(follower)

    assert error_of(driver.commit({"orders": {0: 1}}, follower, 2)) is (
        ErrorCode.REBALANCE_IN_PROGRESS
    )


@pytest.mark.parametrize(
    ("sender", "generation", "error"),
    [
        ("", None, ErrorCode.NONE),
        ("anybody", None, ErrorCode.NONE),
        ("", 2, ErrorCode.UNKNOWN_MEMBER_ID),
        ("anybody", 2, ErrorCode.UNKNOWN_MEMBER_ID),
    ],
)
def test_to_an_empty_group_anybody_may_commit_without_a_generation(
    sender: str, generation: int | None, error: ErrorCode
) -> None:
    driver = GroupDriver()
    driver.leave(*driver.form())

    assert error_of(driver.commit({"orders": {0: 1}}, sender, generation)) is error


def test_where_topics_are_known_they_must_exist() -> None:
    driver = GroupDriver()
    driver.learn_topics(ORDERS)

    outcome = driver.commit({"nowhere": {0: 1}, "orders": {0: 1, 1: 1, 2: 1, -1: 1}})

    none, unknown = ErrorCode.NONE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert outcome.response.topics == (
        TopicResult("nowhere", None, (PartitionResult(0, unknown),)),
        TopicResult(
            "orders",
            ORDERS.topic_id,
            (
                *(PartitionResult(2, unknown), PartitionResult(-1, unknown)),
                *(PartitionResult(0, none), PartitionResult(1, none)),
            ),
        ),
    )
    assert driver.group.offsets["orders"][0].topic_id == ORDERS.topic_id
    assert sorted(driver.group.offsets["orders"]) == [0, 1]


def test_where_no_topic_exists_the_group_is_not_even_asked() -> None:
    driver = GroupDriver()
    driver.learn_topics(ORDERS)

    assert error_of(driver.commit({"nowhere": {0: 1}}, "m", 1)) is (
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    )


def test_a_topic_without_partitions_is_in_the_response_only_if_it_does_not_exist() -> None:
    driver = GroupDriver()
    driver.learn_topics(ORDERS)

    outcome = driver.commit({"nowhere": {}, "orders": {}})

    assert outcome.response.topics == (TopicResult("nowhere", None, ()),)


def test_from_version_10_topics_have_ids() -> None:
    driver = GroupDriver()
    driver.learn_topics(ORDERS)
    request = requests.commit(at_offset(5), topic=None, topic_id=ORDERS.topic_id)

    outcome = driver.send(request, 10)

    assert outcome.response.topics == (
        TopicResult("orders", ORDERS.topic_id, (PartitionResult(0, ErrorCode.NONE),)),
    )
    assert driver.group.offsets["orders"][0] == CommittedOffset(
        offset=5,
        leader_epoch=None,
        metadata="",
        commit_timestamp_ms=0,
        expire_timestamp_ms=None,
        topic_id=ORDERS.topic_id,
    )


@pytest.mark.parametrize("topics", [(), (ORDERS,)])
def test_an_unknown_topic_id_is_refused(topics: tuple[Topic, ...]) -> None:
    driver = GroupDriver()
    if topics:
        driver.learn_topics(*topics)
    request = requests.commit(topic=None, topic_id="AAAAAAAAAAAAAAAAAAAAAQ")

    outcome = driver.send(request, 10)

    assert error_of(outcome) is ErrorCode.UNKNOWN_TOPIC_ID
    assert outcome.records == ()
