from __future__ import annotations

from concurrent.futures import Future

from group_coordinator.clients.channel.channel import Body, Request
from group_coordinator.clients.channel_errors import RequestTimedOutError
from group_coordinator.demo.measures import Latency, MeasuredChannel, Measures, latency_of

HEARTBEAT = Request("Heartbeat", 4, "billing", {})
JOIN = Request("JoinGroup", 9, "billing", {})


class Clock:
    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


class Answering:
    def __init__(self) -> None:
        self.replies: list[Future[Body]] = []

    def send(self, _: Request, *, timeout_ms: int | None = None) -> Future[Body]:  # noqa: ARG002
        self.replies.append(Future())
        return self.replies[-1]


def test_median_and_99_percent() -> None:
    assert latency_of([]) is None
    assert latency_of([0.5]) == Latency(0.5, 0.5)
    assert latency_of([number / 100 for number in range(200, 0, -1)]) == Latency(1.005, 1.98)


def test_an_answer_is_measured_from_its_request() -> None:
    clock, answering = Clock(), Answering()
    measures = Measures(clock)
    channel = MeasuredChannel(answering, measures)
    channel.send(HEARTBEAT)
    clock.now_s += 0.75
    answering.replies[0].set_result({})

    assert measures.recent() == Latency(0.75, 0.75)
    assert measures.sent_count == 1


def test_a_parked_request_says_nothing_about_the_coordinator() -> None:
    answering = Answering()
    measures = Measures(Clock())
    MeasuredChannel(answering, measures).send(JOIN)
    answering.replies[0].set_result({})

    assert measures.recent() is None
    assert measures.sent_count == 1


def test_no_answer_is_not_a_slow_answer() -> None:
    answering = Answering()
    measures = Measures(Clock())
    MeasuredChannel(answering, measures).send(HEARTBEAT)
    answering.replies[0].set_exception(RequestTimedOutError("late"))

    assert measures.overall() is None


def test_rates_and_latencies_are_of_the_last_seconds() -> None:
    clock = Clock()
    measures = Measures(clock)
    for _ in range(40):
        measures.answered(measures.sent())
        clock.now_s += 0.5

    assert measures.requests_per_s() == 2.0
    assert measures.recent() == Latency(0.0, 0.0)

    clock.now_s += 60

    assert measures.requests_per_s() == 0.0
    assert measures.recent() is None
    assert measures.overall() == Latency(0.0, 0.0)
