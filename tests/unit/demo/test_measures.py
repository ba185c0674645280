from __future__ import annotations

from concurrent.futures import Future

import pytest
from kafka import TopicPartition

from group_coordinator.clients.channel import Body, Request
from group_coordinator.clients.errors import RequestTimedOutError
from group_coordinator.clients.member.member import GroupMember
from group_coordinator.clients.member.membership import MemberOptions
from group_coordinator.clients.offset_messages import MemberIdentity, commit_offsets
from group_coordinator.demo.coordinator import measures
from group_coordinator.demo.coordinator.measures import (
    Latency,
    MeasuredChannel,
    Survey,
    latency_of,
    names_in,
    on_the_dashboard,
    queries,
    shown_of,
)
from tests.support import dashboard
from tests.support.all_metrics import all_names
from tests.unit.clients.coordinator_in_process import CoordinatorInProcess

HEARTBEAT = Request("Heartbeat", 4, "billing", {})
JOIN = Request("JoinGroup", 9, "billing", {})
PAGE = """\
# HELP group_coordinator_ready 1: /readyz says 200
group_coordinator_ready 1.0
group_coordinator_dead_letters_total 0.0
kafka_consumergroup_lag_sum{consumergroup="billing",topic="orders"} 4.0
kafka_consumergroup_lag_sum{consumergroup="sales-report",topic="orders"} 31.0
kafka_server_group_coordinator_metrics_offset_commit_count 812.0
"""


class Responding:
    """A channel whose responses the test sends."""

    now_s = 100.0

    def __init__(self) -> None:
        self.replies: list[Future[Body]] = []

    def send(self, _: Request, *, timeout_ms: int | None = None) -> Future[Body]:  # noqa: ARG002
        self.replies.append(Future())
        return self.replies[-1]


@pytest.fixture
def responding() -> Responding:
    return Responding()


@pytest.fixture
def channel(responding: Responding) -> MeasuredChannel:
    return MeasuredChannel(responding, lambda: responding.now_s)


def test_median_and_99_percent() -> None:
    assert latency_of([]) is None
    assert latency_of([0.5]) == Latency(0.5, 0.5)
    assert latency_of([number / 100 for number in range(200, 0, -1)]) == Latency(1.005, 1.98)


def test_rates_and_latencies_are_of_the_last_seconds(
    responding: Responding, channel: MeasuredChannel
) -> None:
    for _ in range(40):
        channel.send(HEARTBEAT)
        responding.now_s += 0.5
        responding.replies[-1].set_result({})

    assert channel.requests_per_s() == 2.0
    assert channel.recent() == Latency(0.5, 0.5)

    responding.now_s += 60

    assert channel.requests_per_s() == 0.0
    assert channel.recent() is None
    assert (channel.overall(), channel.sent_count) == (Latency(0.5, 0.5), 40)


def test_joins_and_missing_responses_are_no_latency(
    responding: Responding, channel: MeasuredChannel
) -> None:
    channel.send(JOIN)
    responding.replies[0].set_result({})
    channel.send(HEARTBEAT)
    responding.replies[1].set_exception(RequestTimedOutError("late"))

    assert channel.overall() is None
    assert (channel.sent_count, channel.failed_count) == (2, 1)


def test_each_group_is_described_by_the_api_that_knows_it() -> None:
    coordinator = CoordinatorInProcess()
    offsets = {TopicPartition("orders", 0): 1}
    coordinator.send(commit_offsets(MemberIdentity("simple"), offsets))
    options = MemberOptions(group_protocol="consumer")
    GroupMember(
        coordinator, "modern", ["orders"], topic_ids={}, options=options, clock=coordinator.clock
    ).join()
    survey = Survey(coordinator)
    counts = [len(coordinator.events)]
    for begin_s in (0.0, 3.0):
        for now_s in (begin_s, begin_s + 1, begin_s + 2):
            survey.tick(now_s, ["modern", "simple", "gone"])
        counts.append(len(coordinator.events))
        assert survey.states == {"Stable": 1, "Empty": 1, "Dead": 1}
        assert (survey.member_count, survey.consumer_group_count) == (1, 1)

    # In the second round only the deleted group is described twice.
    assert [count - counts[0] for count in counts] == [0, 5, 9]


def test_some_lines_of_the_metrics_are_shown() -> None:
    assert shown_of(PAGE) == [
        "kafka_server_group_coordinator_metrics_offset_commit_count 812.0",
        'kafka_consumergroup_lag_sum{consumergroup="sales-report",topic="orders"} 31.0',
        "group_coordinator_dead_letters_total 0.0",
    ]


def test_queries_of_the_dashboard_without_series_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    both = {"Ready A": 'min(group_coordinator_ready{job="x"})', "Gone B": 'gone{job="x"}'}
    monkeypatch.setattr(measures, "queries", lambda: [*both.items()])

    assert on_the_dashboard(PAGE) == (
        "1 of 2 queries of the dashboard find their series here, not: Gone B"
    )


def test_every_query_of_the_dashboard_is_read() -> None:
    assert [*queries()] == [*dashboard.of_panels(dashboard.JOB)]
    for title, query in queries():
        assert names_in(query), title
        assert names_in(query) <= all_names()
    everything = "".join(f"{name} 1\n" for name in all_names())
    count = (
        len([*dashboard.of_panels(dashboard.JOB)]) - 1
    )  # the age of the ACLs, which the demo's job has not
    assert on_the_dashboard(everything) == (
        f"{count} of {count} queries of the dashboard find their series here"
    )
