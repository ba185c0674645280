from __future__ import annotations

from group_coordinator.demo.gateway.counted import Counted, counted_on
from group_coordinator.demo.gateway.figures import GatewayFigures, line
from group_coordinator.gateway.counters import Counters, Gauges, metrics_page


def page(answers: dict[str, list[float]]) -> str:
    counters = Counters()
    counters.requests["Fetch", 15, 1] = 500
    counters.requests["Heartbeat", 4, None] = 12
    for api, waits_s in answers.items():
        for seconds in waits_s:
            counters.count_answer(api, seconds)
    return metrics_page(
        counters,
        Gauges(
            connections=7, open_requests=3, parked_requests=2, nodes_without_port=0, throttled=0
        ),
    )


def test_joins_count_as_answers_and_not_as_waits() -> None:
    counted = counted_on(
        page({"Heartbeat": [0.3] * 10 + [0.7] * 9 + [1.5], "JoinGroup": [40.0] * 30})
    )

    assert counted == Counted(
        connections=7, parked=2, requests=512, answers=50, half_within_s=0.5, most_within_s=1.0
    )
    assert line(GatewayFigures(counted, offset_count=3)) == (
        "7 connections, 512 requests; the job answered 50, half of them within 0.5 s; "
        "3 offsets, - expired, - deleted"
    )


def test_a_wait_beyond_the_last_bound_has_none() -> None:
    counted = counted_on(page({"Heartbeat": [11.0, 12.0]}))

    assert (counted.answers, counted.half_within_s) == (2, None)


def test_nothing_was_answered() -> None:
    assert counted_on(page({})) == Counted(7, 2, 512, 0, None, None)
    assert line(GatewayFigures()) is None
