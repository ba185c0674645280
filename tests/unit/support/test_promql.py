"""The expected numbers are what promtool of Prometheus 2.42 printed for the same series and queries."""

from __future__ import annotations

import math

import pytest

from tests.support.promql import Scrape, Scraped, UnknownExpressionError

FIRST = """
# TYPE asked counter
asked_total{kind="join"} 10
asked_total{kind="leave"} 10000
asked_total{kind="again"} 7
# TYPE seen counter
seen_total 0
# TYPE lag gauge
lag{group="x",topic="t"} 5
lag{group="x",topic="u"} 1
lag{group="y",topic="t"} 2
# TYPE gone gauge
gone 1
# TYPE took histogram
took_bucket{le="0.1"} 2
took_bucket{le="1"} 4
took_bucket{le="5"} 4
took_bucket{le="+Inf"} 4
"""
LAST = """
# TYPE asked counter
asked_total{kind="join"} 40
asked_total{kind="leave"} 10030
asked_total{kind="again"} 3
# TYPE seen counter
seen_total 0
# TYPE lag gauge
lag{group="x",topic="t"} 9
lag{group="x",topic="u"} 4
lag{group="y",topic="t"} 2
# TYPE took histogram
took_bucket{le="0.1"} 4
took_bucket{le="1"} 10
took_bucket{le="5"} 12
took_bucket{le="+Inf"} 13
"""
SCRAPED = Scraped([Scrape.of(FIRST, 1_000.0, job="a"), Scrape.of(LAST, 1_015.0, job="a")])


def answered(query: str) -> dict[str, float]:
    """By the values of the labels, in order of the labels' names."""
    return {
        " ".join(value for _, value in sorted(labels)): number
        for labels, number in SCRAPED.answer(query).items()
    }


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("lag", {"lag x a t": 9, "lag x a u": 4, "lag y a t": 2}),
        ('lag{group="x",topic!="t"}', {"lag x a u": 4}),
        ('lag{topic=~"t|v"}', {"lag x a t": 9, "lag y a t": 2}),
        ('lag{topic!~"."}', {}),
        ("gone", {}),
        ("nothing", {}),
        ("sum(lag)", {"": 15}),
        ("sum by (group) (lag)", {"x": 13, "y": 2}),
        ("max by (topic, none) (lag)", {"t": 9, "u": 4}),
        ("min(lag)", {"": 2}),
        ("topk(2, lag)", {"lag x a t": 9, "lag x a u": 4}),
        ("topk(1, sum by (group) (lag))", {"x": 13}),
        ("rate(asked_total[1m])", {"a join": 2 / 3, "a leave": 0.75, "a again": 0.075}),
        ("increase(asked_total[1m])", {"a join": 40, "a leave": 45, "a again": 4.5}),
        ("increase(asked_total[10s])", {}),
        ("sum(rate(asked_total[20s]))", {"": 4.2}),
        ("rate(asked_total[15s])", {"a join": 2, "a leave": 2, "a again": 0.2}),
        ("increase(seen_total[1m])", {"a": 0}),
        ("histogram_quantile(0.5, took_bucket)", {"a": 0.475}),
        ("histogram_quantile(0.05, took_bucket)", {"a": 0.01625}),
        ("histogram_quantile(0.5, sum by (le) (rate(took_bucket[1m])))", {"": 0.475}),
        ("histogram_quantile(0.95, sum by (le) (rate(took_bucket[1m])))", {"": 5}),
        ("histogram_quantile(0.5, sum by (le) (increase(seen_total[1m])))", {}),
    ],
)
def test_an_answer_is_that_of_prometheus(query: str, expected: dict[str, float]) -> None:
    assert answered(query) == pytest.approx(expected)


def test_where_nothing_was_observed_there_is_no_quantile() -> None:
    again = Scraped([Scrape.of(FIRST, 0.0), Scrape.of(FIRST, 15.0)])

    [found] = again.answer("histogram_quantile(0.5, rate(took_bucket[1m]))").values()

    assert math.isnan(found)


@pytest.mark.parametrize(
    "query",
    [
        "lag > 1",
        "-lag",
        "avg(lag)",
        "sum without (group) (lag)",
        "topk by (group) (1, lag)",
        "deriv(lag[1m])",
        "lag offset 5m",
        "lag @ 0",
        "rate(lag[5m:1m])",
    ],
)
def test_what_is_not_known_is_refused(query: str) -> None:
    with pytest.raises(UnknownExpressionError):
        answered(query)
