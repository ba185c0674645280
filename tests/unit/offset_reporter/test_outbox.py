from __future__ import annotations

import pytest
from kafka import TopicPartition

from group_coordinator.offset_reporter.outbox import OffsetsToCommit, Outbox
from tests.unit.offset_reporter.progress import offsets

HOUR = 3_600.0
FIRST, SECOND = "first run", "second run"


@pytest.fixture
def outbox() -> Outbox:
    return Outbox(interval_s=1.0, refresh_s=HOUR)


def sent_at(outbox: Outbox, now_s: float) -> OffsetsToCommit | None:
    parcel = outbox.take(now_s)
    if parcel is not None:
        outbox.sent(now_s)
    return parcel


def test_batches_that_end_meanwhile_are_one_commit(outbox: Outbox) -> None:
    outbox.put("g", FIRST, offsets("orders", 5), 0.0)
    assert sent_at(outbox, 0.0) == ("g", offsets("orders", 5))

    for end in (6, 7, 8):
        outbox.put("g", FIRST, offsets("orders", end), 0.5)

    assert outbox.next_s() == 1.0
    assert sent_at(outbox, 0.9) is None
    assert sent_at(outbox, 1.0) == ("g", offsets("orders", 8))
    assert not outbox.has_news


def test_what_has_not_changed_is_committed_again_long_before_it_expires(outbox: Outbox) -> None:
    outbox.put("g", FIRST, offsets("orders", 5), 0.0)
    sent_at(outbox, 0.0)
    outbox.put("g", FIRST, offsets("orders", 5), 10.0)

    assert outbox.next_s() == HOUR
    assert sent_at(outbox, HOUR) == ("g", offsets("orders", 5))
    assert outbox.next_s() == 2 * HOUR


def test_a_failure_is_tried_again_later_and_later_with_what_is_newest(outbox: Outbox) -> None:
    outbox.put("g", FIRST, offsets("orders", 5), 0.0)
    now_s, pauses = 0.0, []
    for end in range(6, 14):
        assert outbox.take(now_s) is not None
        outbox.failed(now_s)
        outbox.put("g", FIRST, offsets("orders", end), now_s)
        due_s = outbox.next_s()
        assert due_s is not None
        pauses.append(due_s - now_s)
        now_s = due_s

    assert pauses == [2.0, 4.0, 8.0, 16.0, 30.0, 30.0, 30.0, 30.0]
    assert sent_at(outbox, now_s) == ("g", offsets("orders", 13))
    outbox.put("g", FIRST, offsets("orders", 14), now_s)
    assert outbox.next_s() == now_s + 1.0


def test_a_group_that_fails_does_not_hold_up_another(outbox: Outbox) -> None:
    outbox.put("bad", FIRST, offsets("orders", 5), 0.0)
    outbox.put("good", FIRST, offsets("refunds", 1), 0.0)

    assert outbox.take(0.0) == ("bad", offsets("orders", 5))
    outbox.failed(0.0)

    assert sent_at(outbox, 0.0) == ("good", offsets("refunds", 1))


def test_hurry_waits_for_no_pause(outbox: Outbox) -> None:
    outbox.put("g", FIRST, offsets("orders", 5), 0.0)
    outbox.take(0.0)
    outbox.failed(0.0)

    outbox.hurry(0.1)
    assert outbox.has_hurried

    outbox.take(0.1)
    assert outbox.has_hurried
    outbox.failed(0.1)
    assert not outbox.has_hurried
    assert outbox.has_news

    outbox.hurry(0.2)
    assert sent_at(outbox, 0.2) == ("g", offsets("orders", 5))
    assert not outbox.has_hurried


def test_a_run_that_ended_is_forgotten_once_it_is_committed(outbox: Outbox) -> None:
    outbox.put("g", FIRST, offsets("orders", 5), 0.0)
    sent_at(outbox, 0.0)
    outbox.put("g", FIRST, offsets("orders", 6), 0.1)

    outbox.end(FIRST)
    assert outbox.has_news
    assert sent_at(outbox, 1.0) == ("g", offsets("orders", 6))

    assert outbox.next_s() is None
    assert sent_at(outbox, 2 * HOUR) is None


def test_a_run_may_end_while_its_commit_is_on_its_way(outbox: Outbox) -> None:
    outbox.put("g", FIRST, offsets("orders", 5), 0.0)
    outbox.take(0.0)

    outbox.end(FIRST)
    assert outbox.has_news
    outbox.failed(0.0)
    assert sent_at(outbox, 2.0) == ("g", offsets("orders", 5))

    assert not outbox.has_news
    assert outbox.next_s() is None


def test_the_next_run_of_a_query_counts_where_it_went_back(outbox: Outbox) -> None:
    outbox.put("g", FIRST, offsets("orders", 9), 0.0)
    outbox.take(0.0)
    outbox.failed(0.0)
    outbox.end(FIRST)
    outbox.put("g", SECOND, offsets("orders", 4), 1.0)

    assert sent_at(outbox, 2.0) == ("g", offsets("orders", 4))
    outbox.put("g", SECOND, offsets("orders", 5), 3.0)
    assert sent_at(outbox, 3.0) == ("g", offsets("orders", 5))


def test_two_queries_may_share_a_group_of_different_topics(outbox: Outbox) -> None:
    outbox.put("g", FIRST, offsets("orders", 9), 0.0)
    outbox.put("g", SECOND, offsets("refunds", 2), 0.0)

    assert sent_at(outbox, 0.0) == (
        "g",
        {TopicPartition("orders", 0): 9, TopicPartition("refunds", 0): 2},
    )


def test_no_answer_comes_to_what_was_not_sent(outbox: Outbox) -> None:
    with pytest.raises(RuntimeError, match="no commit is on its way"):
        outbox.sent(0.0)
