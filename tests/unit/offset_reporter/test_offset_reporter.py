"""The listener and its thread, before a coordinator that does as it is told."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from threading import Event, Timer
from typing import Any
from uuid import UUID

import pytest
from kafka.errors import KafkaConnectionError
from pyspark.sql.streaming.listener import QueryProgressEvent, QueryTerminatedEvent, SourceProgress

from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.offset_reporter import OffsetReporter
from group_coordinator.offset_reporter.offset_reporter import CommitCounts, Runs, Sender
from group_coordinator.offset_reporter.outbox import Offsets, OffsetsRejectedError, Outbox
from tests.support.until import until
from tests.unit.offset_reporter.progress import ORDERS, QUERY, RUN, offsets, progress, source

DEADLINE_S = 10


class Coordinator:
    """A target that keeps what it is given, once it may answer, and that has failures in store."""

    def __init__(self) -> None:
        self.commits: list[tuple[str, Offsets]] = []
        self.failures: list[Exception] = []
        self.may_answer = Event()
        self.may_answer.set()
        self.closed = 0

    def commit(self, group_id: str, offsets: Offsets) -> None:
        assert self.may_answer.wait(DEADLINE_S)
        if self.failures:
            raise self.failures.pop(0)
        self.commits.append((group_id, offsets))

    def close(self) -> None:
        self.closed += 1


@pytest.fixture
def coordinator() -> Coordinator:
    return Coordinator()


@pytest.fixture
def reporter(coordinator: Coordinator) -> Iterator[OffsetReporter]:
    made = OffsetReporter("nowhere:9092")
    made._sender = Sender(coordinator, Outbox(0.0, 3_600.0))  # noqa: SLF001 - no Kafka
    yield made
    coordinator.failures.clear()
    coordinator.may_answer.set()
    made.close(timeout_s=0.1)


def report(reporter: OffsetReporter, *sources: SourceProgress) -> None:
    reporter.onQueryProgress(QueryProgressEvent(progress(*sources)))


def end(reporter: OffsetReporter, run: UUID = RUN) -> None:
    reporter.onQueryTerminated(QueryTerminatedEvent(QUERY, run, None, None))


def refused(code: int) -> OffsetsRejectedError:
    return OffsetsRejectedError(dict.fromkeys(offsets("orders", 5, 7), code))


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [each.message for each in caplog.records if each.levelno == logging.WARNING]


def until_failed(reporter: OffsetReporter, times: int) -> None:
    """Hurry on without waiting for the pauses between tries."""
    until(
        lambda: reporter.flush(0.01) or reporter.counts.failed >= times,
        seconds=DEADLINE_S,
        awaited=f"{times} failures",
    )


def test_an_end_waits_for_its_commit(reporter: OffsetReporter, coordinator: Coordinator) -> None:
    report(reporter, source(ORDERS))
    end(reporter)

    assert coordinator.commits == [("spark-billing", offsets("orders", 5, 7))]
    assert reporter.counts == CommitCounts(taken=1, failed=0)


def test_an_end_waits_for_one_try(reporter: OffsetReporter, coordinator: Coordinator) -> None:
    coordinator.failures = [OSError("away")] * 9
    report(reporter, source(ORDERS))
    until_failed(reporter, 1)

    end(reporter)

    assert reporter.counts.failed >= 2
    assert coordinator.commits == []


def test_after_the_reporters_end_none_waits(
    reporter: OffsetReporter, coordinator: Coordinator
) -> None:
    coordinator.may_answer.clear()
    report(reporter, source(ORDERS))
    reporter.close(timeout_s=0.01)

    end(reporter)

    assert coordinator.commits == []


def test_a_query_does_not_wait_for_a_coordinator_that_does_not_answer(
    reporter: OffsetReporter, coordinator: Coordinator
) -> None:
    coordinator.may_answer.clear()
    for number in range(100):
        report(reporter, source(f'{{"orders":{{"0":{number}}}}}'))
    assert coordinator.commits == []
    assert not reporter.flush(0.01)

    coordinator.may_answer.set()
    assert reporter.flush(DEADLINE_S)
    assert coordinator.commits[-1] == ("spark-billing", offsets("orders", 99))
    assert len(coordinator.commits) <= 2


def test_a_group_with_members_is_told_once(
    reporter: OffsetReporter, coordinator: Coordinator, caplog: pytest.LogCaptureFixture
) -> None:
    coordinator.failures = [refused(ErrorCode.UNKNOWN_MEMBER_ID) for _ in range(3)]
    report(reporter, source(ORDERS))
    until_failed(reporter, 3)

    assert reporter.flush(DEADLINE_S)
    [warning] = warnings(caplog)
    assert warning == (
        "group 'spark-billing' has members, so Kafka rejects the offsets of a Spark query for it: consumers "
        "use the same group id. Give the query its own group (OffsetReporter's group_ids)"
    )
    assert coordinator.closed == 0
    assert reporter.counts == CommitCounts(taken=1, failed=3)


@pytest.mark.parametrize(
    ("failure", "told"),
    [
        (KafkaConnectionError("socket disconnected"), "KafkaConnectionError: "),
        (OSError("no route"), "OSError: no route"),
        (
            refused(ErrorCode.GROUP_AUTHORIZATION_FAILED),
            "OffsetsRejectedError: GroupAuthorizationFailedError for orders-0, orders-1",
        ),
    ],
)
def test_a_failure_is_told_counted_and_tried_again(
    reporter: OffsetReporter,
    coordinator: Coordinator,
    caplog: pytest.LogCaptureFixture,
    failure: Exception,
    told: str,
) -> None:
    coordinator.failures = [failure, failure]
    report(reporter, source(ORDERS))
    until_failed(reporter, 2)

    assert reporter.flush(DEADLINE_S)
    assert coordinator.commits == [("spark-billing", offsets("orders", 5, 7))]
    [warning] = warnings(caplog)
    assert warning.startswith(
        f"the offsets of group 'spark-billing' could not be committed, and are tried again: {told}"
    )
    # Another connection may do better.
    assert coordinator.closed == 2


def test_what_cannot_be_read_does_not_fail_the_query(
    reporter: OffsetReporter, coordinator: Coordinator, caplog: pytest.LogCaptureFixture
) -> None:
    report(reporter, source("no offsets"))
    report(reporter, source(ORDERS))
    reporter.flush(DEADLINE_S)

    assert caplog.records[0].message == f"the progress of query {QUERY} cannot be read"
    assert coordinator.commits == [("spark-billing", offsets("orders", 5, 7))]


def test_at_the_end_nothing_is_sent(reporter: OffsetReporter, coordinator: Coordinator) -> None:
    with reporter:
        report(reporter, source(ORDERS))
    report(reporter, source('{"orders":{"0":50}}'))
    reporter.close()

    assert coordinator.commits == [("spark-billing", offsets("orders", 5, 7))]
    assert coordinator.closed == 1


def test_an_end_does_not_wait_for_ever(reporter: OffsetReporter, coordinator: Coordinator) -> None:
    coordinator.may_answer.clear()
    report(reporter, source(ORDERS))

    reporter.close(timeout_s=0.01)

    assert coordinator.commits == []


def test_a_reporter_that_has_nothing_to_do_has_no_thread(reporter: OffsetReporter) -> None:
    report(reporter, source("12", "RateStreamV2[rowsPerSecond=1]"))
    end(reporter)

    assert reporter.counts == CommitCounts(taken=0, failed=0)
    assert reporter._sender._thread is None  # noqa: SLF001 - no thread shows in no other way


def test_a_target_must_be_one_of_two() -> None:
    target: Any = "zookeeper"
    make: Callable[..., OffsetReporter] = OffsetReporter
    with pytest.raises(
        ValueError, match="target = 'zookeeper' is not valid: give kafka or coordinator"
    ):
        make("nowhere:9092", target=target)


def test_a_group_is_a_text_at_the_start_already() -> None:
    with pytest.raises(ValueError, match=r"group_ids = \{'totals': 5\}: Expected .*, got `int`"):
        OffsetReporter("broker:9092", group_ids={"totals": 5})  # type: ignore[dict-item]


def test_a_run_that_spark_has_ended_is_waited_for_and_one_that_goes_on_is_not() -> None:
    runs = Runs()
    runs.begin("ended")
    runs.begin("active")
    late = Timer(0.01, runs.end, ["ended"])
    late.start()

    assert runs.await_all_but({"active"}, timeout_s=10)
    assert runs
    assert not runs.await_all_but(set(), timeout_s=0.01)
    late.join()


def test_what_never_began_is_not_waited_for() -> None:
    runs = Runs()
    runs.end("unknown")

    assert not runs
    assert runs.await_all_but(set(), timeout_s=0)
