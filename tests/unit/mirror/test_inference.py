"""The rules one by one; what a real broker writes is in test_recorded_endings.py."""

from __future__ import annotations

import pytest

from group_coordinator.tables.compaction.rows import GroupRow, GroupRows, OffsetRow
from tests.unit.mirror.mirrored_log import HOUR, TOPICS, MirroredLog


@pytest.fixture
def log() -> MirroredLog:
    return MirroredLog()


@pytest.mark.parametrize(("late_ms", "reason"), [(-1, "offset-deleted"), (0, "offset-expired")])
@pytest.mark.parametrize(
    ("became_empty_ms", "own_ms", "due_ms"),
    [
        (None, {}, 1_000 + HOUR),
        (5_000, {}, 5_000 + HOUR),
        (None, {"expireTimestamp": 3_000}, 3_000),
    ],
    ids=["a simple group's by its commit", "by the time the group became empty", "by its own time"],
)
def test_an_offset_is_due(
    log: MirroredLog,
    became_empty_ms: int | None,
    own_ms: dict[str, int],
    due_ms: int,
    late_ms: int,
    reason: str,
) -> None:
    if became_empty_ms is not None:
        log.classic(0, "orders")
    log.commit(1_000, "orders-0", **own_ms)
    if became_empty_ms is not None:
        log.classic(became_empty_ms)
    log.lose(due_ms + late_ms, "orders-0")

    assert log.reasons() == [f"orders-0 {reason}"]


def test_a_subscription_protects_an_offset_so_that_only_the_topic_can_have_gone(
    log: MirroredLog,
) -> None:
    log.classic(0, "orders")
    log.commit(1_000, "orders-0", "refunds-0")
    log.lose(9 * HOUR, "refunds-0")
    log.lose(9 * HOUR + 1, "orders-0")

    assert log.reasons() == ["refunds-0 offset-expired", "orders-0 topic-deleted"]


def test_a_sweep_takes_the_group_with_its_last_offset(log: MirroredLog) -> None:
    log.commit(1_000, "orders-0", "orders-1")
    log.lose(HOUR + 1_000, "orders-0", "orders-1")
    log.end(HOUR + 1_000)

    assert log.reasons() == [
        "orders-0 offset-expired",
        "orders-1 offset-expired",
        "group group-expired",
    ]


def test_one_offset_that_was_not_due_tells_that_somebody_deleted_the_group(
    log: MirroredLog,
) -> None:
    log.commit(1_000, "orders-0")
    log.commit(2_000, "orders-1")
    log.lose(HOUR + 1_000, "orders-0", "orders-1")
    log.end(HOUR + 1_000)

    assert log.reasons() == [
        "orders-0 group-deleted",
        "orders-1 group-deleted",
        "group group-deleted",
    ]


@pytest.mark.parametrize(
    ("present", "offsets", "group"),
    [
        ({"refunds": "id-of-refunds"}, "topic-deleted", "group-expired"),
        (TOPICS, "group-deleted", "group-deleted"),
        ({}, "group-deleted", "group-deleted"),
    ],
    ids=["its topic is gone", "its topic is there", "nobody knows"],
)
def test_a_group_that_is_gone_at_the_next_poll_may_have_gone_after_its_topic(
    present: dict[str, str], offsets: str, group: str
) -> None:
    log = MirroredLog(topics=present, reason="observed")
    log.commit(1_000, "orders-0")
    log.lose(2_000, "orders-0")
    log.end(2_000)

    assert log.reasons() == [f"orders-0 {offsets}", f"group {group}"]


def test_members_may_leave_between_two_polls_before_their_group_is_deleted() -> None:
    log = MirroredLog(reason="observed")
    log.classic(1_000, "orders")
    log.commit(1_000, "orders-0")
    log.lose(2_000, "orders-0")
    log.end(2_000)

    assert log.reasons() == ["orders-0 group-deleted", "group group-deleted"]


@pytest.mark.parametrize(
    ("subscribed", "reason"), [((), "offset-deleted"), (("orders",), "topic-deleted")]
)
def test_members_may_leave_between_two_polls_before_their_offsets_are_deleted(
    subscribed: tuple[str, ...], reason: str
) -> None:
    log = MirroredLog(reason="observed")
    log.classic(1_000, "orders")
    log.commit(1_000, "orders-0", "refunds-0")
    log.lose(2_000, "orders-0")
    log.classic(2_000, *subscribed)

    assert log.reasons() == [f"orders-0 {reason}"]


def test_a_group_without_offsets_expires_at_the_next_sweep(log: MirroredLog) -> None:
    log.classic(1_000)
    log.end(1_500)

    assert log.reasons() == ["group group-expired"]


def test_an_offset_that_no_reader_saw_waited_for_a_transaction_which_no_sweep_touches(
    log: MirroredLog,
) -> None:
    log.commit(1_000, "orders-0")
    log.lose(2 * HOUR, "orders-0", "orders-1")
    log.end(2 * HOUR)

    assert log.reasons() == [
        "orders-0 group-deleted",
        "orders-1 mirrored",
        "group group-deleted",
    ]


def test_what_stays_of_a_topic_tells_that_the_topic_did_not_go() -> None:
    log = MirroredLog(topics={"refunds": "id-of-refunds"})
    log.commit(1_000, "orders-0", "orders-1", topicId="id-of-orders")
    log.lose(2_000, "orders-0")
    log.lose(3_000, "orders-1")

    assert log.reasons() == ["orders-0 offset-deleted", "orders-1 topic-deleted"]


@pytest.mark.parametrize(
    ("topics", "reason"),
    [
        (TOPICS, "offset-deleted"),
        (TOPICS | {"orders": "id-of-another"}, "topic-deleted"),
        ({"refunds": "id-of-refunds"}, "topic-deleted"),
        ({}, "mirrored"),
    ],
    ids=["it is there", "another has its name", "it is gone", "nobody knows"],
)
def test_where_no_offset_and_no_member_tells_the_cluster_s_topics_do(
    topics: dict[str, str], reason: str
) -> None:
    log = MirroredLog(topics)
    log.commit(1_000, "orders-0", topicId="id-of-orders")
    log.lose(2_000, "orders-0")

    assert log.reasons() == [f"orders-0 {reason}"]


def test_what_stays_of_a_topic_that_came_back_is_not_what_its_deletion_takes(
    log: MirroredLog,
) -> None:
    log.commit(1_000, "orders-0", topicId="id-before-it-came-back")
    log.commit(1_000, "orders-1", topicId="id-of-orders")
    log.lose(2_000, "orders-0")

    assert log.reasons() == ["orders-0 topic-deleted"]


def test_what_stays_without_a_topic_id_the_topic_s_deletion_would_have_taken() -> None:
    log = MirroredLog(topics={"refunds": "id-of-refunds"})
    log.commit(1_000, "orders-0", topicId="id-of-orders")
    log.commit(1_000, "orders-1")
    log.lose(2_000, "orders-0")

    assert log.reasons() == ["orders-0 offset-deleted"]


def test_where_one_of_several_topics_is_there_none_was_deleted_by_its_deletion() -> None:
    log = MirroredLog(topics={"refunds": "id-of-refunds"})
    log.commit(1_000, "orders-0", "refunds-0")
    log.lose(2_000, "orders-0", "refunds-0")

    assert log.reasons() == ["orders-0 offset-deleted", "refunds-0 offset-deleted"]


def test_one_deletion_of_topics_has_one_reason(log: MirroredLog) -> None:
    log.consumer(0, "orders")
    log.commit(1_000, "orders-0", "refunds-0")
    log.lose(2_000, "orders-0", "refunds-0")

    assert log.reasons() == ["orders-0 topic-deleted", "refunds-0 topic-deleted"]


def test_an_upgrade_and_a_downgrade_end_no_group(log: MirroredLog) -> None:
    log.classic(0, "orders")
    log.commit(1_000, "orders-0")
    log.end(2_000)
    log.consumer(2_000, "orders")
    log.add(3_000, 5, {"groupId": "g", "memberId": "m"}, None)
    log.end(3_000, record_type=3)
    log.classic(3_000, "orders")

    assert log.reasons() == ["group mirrored", "group mirrored"]


def test_offsets_that_stay_tell_of_a_conversion_whose_other_half_is_not_there_yet(
    log: MirroredLog,
) -> None:
    log.classic(0, "orders")
    log.commit(1_000, "orders-0")
    log.classic(1_500)
    log.end(2_000)

    assert log.reasons() == ["group mirrored"]


def test_members_that_stay_tell_the_same(log: MirroredLog) -> None:
    log.classic(0, "orders")
    log.end(2_000)

    assert log.reasons() == ["group mirrored"]


def test_an_empty_group_without_offsets_becomes_another_that_is_empty(log: MirroredLog) -> None:
    log.consumer(0, "orders")
    log.consumer(1_000)
    log.end(2_000, record_type=3)
    log.classic(2_000)

    assert log.reasons() == ["group mirrored"]


def test_of_what_the_cleaner_took_nothing_is_known(log: MirroredLog) -> None:
    log.lose(1_000, "orders-0")
    log.end(1_000)

    assert log.reasons() == ["orders-0 mirrored", "group mirrored"]


def test_a_consumer_group_s_offsets_age_by_their_commit_while_it_has_members(
    log: MirroredLog,
) -> None:
    log.consumer(0, "orders")
    log.commit(1_000, "refunds-0")
    log.lose(1_000 + HOUR, "refunds-0")
    log.consumer(2 * HOUR)
    log.end(3 * HOUR, record_type=3)

    assert log.reasons() == ["refunds-0 offset-expired", "group group-expired"]


def test_a_streams_group_protects_the_topics_of_its_topology_while_it_has_members(
    log: MirroredLog,
) -> None:
    source = {
        "subtopologyId": "0",
        "sourceTopics": ["orders"],
        "repartitionSourceTopics": [{"name": "by-customer"}],
    }
    log.add(0, 17, {"groupId": "g"}, {"epoch": 1})
    log.add(0, 23, {"groupId": "g"}, {"epoch": 1, "subtopologies": [source]})
    log.add(0, 19, {"groupId": "g", "memberId": "m"}, {})
    log.commit(1_000, "orders-0", "by-customer-0", "refunds-0")
    log.lose(2 * HOUR, "refunds-0")
    log.lose(2 * HOUR + 1, "by-customer-0")
    log.add(3 * HOUR, 19, {"groupId": "g", "memberId": "m"}, None)
    log.lose(4 * HOUR, "orders-0")
    log.end(4 * HOUR, record_type=17)

    assert log.reasons() == [
        "refunds-0 offset-expired",
        "by-customer-0 topic-deleted",
        "orders-0 offset-expired",
        "group group-expired",
    ]


def test_a_record_that_nobody_can_read_keeps_no_other_from_its_reason(
    log: MirroredLog, caplog: pytest.LogCaptureFixture
) -> None:
    log.commit(1_000, "orders-0")
    log.add(2_000, 2, {"group": "g"}, {"generation": "one"})
    log.lose(HOUR + 1_000, "orders-0")

    assert log.reasons() == ["orders-0 offset-expired"]
    assert "a mirrored record is ignored" in caplog.text


def test_share_groups_do_not_expire(log: MirroredLog) -> None:
    log.add(0, 11, {"groupId": "g"}, {"epoch": 1})
    log.end(1_000, record_type=11)

    assert log.reasons() == ["group group-deleted"]


def test_an_append_that_was_cut_goes_on_as_it_began(log: MirroredLog) -> None:
    """A limit on the source's batches cuts anywhere."""
    log.commit(1_000, "orders-0", "orders-1")
    log.lose(HOUR + 1_000, "orders-0")
    log.next_batch()
    log.lose(HOUR + 1_000, "orders-1")
    log.end(HOUR + 1_000)

    assert log.reasons() == ["orders-1 offset-expired", "group group-expired"]


def test_an_append_that_was_cut_goes_on_as_it_began_where_the_tables_have_its_beginning() -> None:
    before = GroupRows()
    before.add(offset_row(1, commit_timestamp=1_000))
    log = MirroredLog(before=before)
    log.lose(HOUR + 1_000, "orders-0")
    log.rows[0] = log.rows[0]._replace(reason="offset-expired")
    log.next_batch()
    log.lose(HOUR + 1_000, "orders-1")
    log.end(HOUR + 1_000)

    assert log.reasons() == ["orders-1 offset-expired", "group group-expired"]


def test_the_tables_know_what_the_log_had_before() -> None:
    before = GroupRows()
    before.add(
        GroupRow(
            **STAMP,  # type: ignore[arg-type]
            group_type="classic",
            state="Empty",
            protocol_type="consumer",
            protocol=None,
            generation_or_epoch=1,
            leader=None,
            member_count=0,
            offset_count=1,
            empty_since=5_000,
            next_expiration=None,
            expiration_base="empty",
            protected_topics=[],
        )
    )
    before.add(offset_row(0, commit_timestamp=1_000))
    log = MirroredLog(before=before)
    log.lose(5_000 + HOUR, "orders-0")
    log.end(5_000 + HOUR)

    assert log.reasons() == ["orders-0 offset-expired", "group group-expired"]


STAMP = {"cluster_id": "c", "group_id": "g", "updated_at": 0, "batch_id": 0}


def offset_row(partition: int, commit_timestamp: int) -> OffsetRow:
    return OffsetRow(
        **STAMP,  # type: ignore[arg-type]
        topic="orders",
        topic_id=None,
        partition=partition,
        committed_offset=7,
        leader_epoch=None,
        metadata="",
        commit_timestamp=commit_timestamp,
        expire_timestamp=None,
        expires_at=None,
    )


def test_whether_a_topic_is_gone_nobody_can_say_who_may_not_see_it(log: MirroredLog) -> None:
    log.commit(1_000, "orders-0")
    log.lose(2_000, "orders-0")

    assert log.reasons(unseen={"orders"}) == ["orders-0 mirrored"]
    assert log.reasons() == ["orders-0 offset-deleted"]
