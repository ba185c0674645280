"""What Prometheus answers to a query when it has read a page twice or more: of PromQL, what the dashboard asks.

Numbers are those of Prometheus 2.42 (tests/unit/support/test_promql.py); any other kind of expression is refused.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self

from prometheus_client.parser import text_string_to_metric_families
from promql_parser import (
    AggModifierType,
    AggregateExpr,
    Call,
    MatchOp,
    MatrixSelector,
    NumberLiteral,
    VectorSelector,
    parse,
)

Labels = frozenset[tuple[str, str]]
"""Of a series; its name is one of them."""
Vector = dict[Labels, float]
_Point = tuple[float, float]
"""Seconds, value."""

_NAME, _BOUND = "__name__", "le"
_AGGREGATES: Mapping[str, Callable[[Iterable[float]], float]] = {
    "sum": math.fsum,
    "min": min,
    "max": max,
}
_NEAR = 1.1
"""Where a range ends within so many mean intervals of a point, the growth is taken to go on until there."""


class UnknownExpressionError(Exception):
    """It is PromQL, and not of the kinds that are known here."""


@dataclass(frozen=True)
class Scrape:
    """A page of /metrics as it was at a time."""

    at_s: float
    values: Mapping[Labels, float]

    @classmethod
    def of(cls, page: str, at_s: float, **target: str) -> Self:
        """With the labels that Prometheus adds, such as job."""
        return cls(
            at_s,
            {
                frozenset({**sample.labels, **target, _NAME: sample.name}.items()): sample.value
                for family in text_string_to_metric_families(page)
                for sample in family.samples
            },
        )


class Scraped:
    """Some scrapes of one port, the first one first; asked at the time of the last one."""

    def __init__(self, scrapes: Sequence[Scrape]) -> None:
        self._scrapes = scrapes
        self._now_s = scrapes[-1].at_s

    def answer(self, query: str) -> Vector:
        """The samples that an instant query gives."""
        return self._of(parse(query))

    def _of(self, asked: Any) -> Vector:
        match asked:
            case VectorSelector():
                return _matching(asked, self._scrapes[-1].values)
            case Call():
                return self._called(asked)
            case AggregateExpr():
                return self._aggregated(asked)
            case _:
                raise UnknownExpressionError(asked.prettify())

    def _called(self, call: Call) -> Vector:
        match call.func.name, call.args:
            case "rate", [MatrixSelector() as read]:
                range_s = read.range.total_seconds()
                return {key: grown / range_s for key, grown in self._increases(read)}
            case "increase", [MatrixSelector() as read]:
                return dict(self._increases(read))
            case "histogram_quantile", [NumberLiteral() as share, buckets]:
                return _quantiles(share.val, self._of(buckets))
            case _:
                raise UnknownExpressionError(call.prettify())

    def _increases(self, read: MatrixSelector) -> Iterator[tuple[Labels, float]]:
        begin_s = self._now_s - read.range.total_seconds()
        points: defaultdict[Labels, list[_Point]] = defaultdict(list)
        for scrape in self._scrapes:
            if begin_s <= scrape.at_s:
                for labels, value in _matching(read.vector_selector, scrape.values).items():
                    points[labels].append((scrape.at_s, value))
        for labels, found in points.items():
            if len(found) > 1:
                yield _without(labels, {_NAME}), _increase(found, begin_s, self._now_s)

    def _aggregated(self, asked: AggregateExpr) -> Vector:
        found = self._of(asked.expr)
        kept = _kept_labels(asked)
        match str(asked.op), asked.param:
            case "topk", NumberLiteral() as number if not kept:
                most = sorted(found.items(), key=lambda item: item[1], reverse=True)
                return dict(most[: int(number.val)])
            case operation, None if operation in _AGGREGATES:
                parts: defaultdict[Labels, list[float]] = defaultdict(list)
                for labels, value in found.items():
                    parts[frozenset(each for each in labels if each[0] in kept)].append(value)
                return {labels: _AGGREGATES[operation](part) for labels, part in parts.items()}
            case _:
                raise UnknownExpressionError(asked.prettify())


def _matching(selector: VectorSelector, values: Mapping[Labels, float]) -> Vector:
    if selector.offset is not None or selector.at is not None or selector.matchers.or_matchers:
        raise UnknownExpressionError(selector.prettify())
    return {
        labels: value
        for labels, value in values.items()
        if dict(labels)[_NAME] == selector.name
        and all(_accepts(matcher, dict(labels)) for matcher in selector.matchers.matchers)
    }


def _accepts(matcher: Any, labels: Mapping[str, str]) -> bool:
    value = labels.get(matcher.name, "")
    if matcher.op in (MatchOp.Equal, MatchOp.NotEqual):
        return (value == matcher.value) is (matcher.op == MatchOp.Equal)
    return (re.fullmatch(matcher.value, value) is not None) is (matcher.op == MatchOp.Re)


def _kept_labels(asked: AggregateExpr) -> frozenset[str]:
    if asked.modifier is None:
        return frozenset()
    if asked.modifier.type != AggModifierType.By:
        raise UnknownExpressionError(asked.prettify())
    return frozenset(asked.modifier.labels)


def _increase(points: Sequence[_Point], begin_s: float, end_s: float) -> float:
    """Of a counter, which may begin again; beyond the points the growth is taken to have been the same."""
    (first_s, first), (last_s, last) = points[0], points[-1]
    grown = last - first + sum(one for (_, one), (_, other) in pairwise(points) if other < one)
    seen_s = last_s - first_s
    mean_s = seen_s / (len(points) - 1)
    before_s = first_s - begin_s
    if grown > 0:
        # It was never less than nothing.
        before_s = min(before_s, seen_s * first / grown)
    beyond_s = sum(
        gap_s if gap_s < mean_s * _NEAR else mean_s / 2 for gap_s in (before_s, end_s - last_s)
    )
    return grown * (seen_s + beyond_s) / seen_s


def _quantiles(share: float, buckets: Vector) -> Vector:
    histograms: defaultdict[Labels, list[_Point]] = defaultdict(list)
    for labels, count in buckets.items():
        bound = dict(labels).get(_BOUND)
        if bound is not None:
            histograms[_without(labels, {_BOUND, _NAME})].append((float(bound), count))
    return {labels: _quantile(share, sorted(found)) for labels, found in histograms.items()}


def _quantile(share: float, buckets: Sequence[_Point]) -> float:
    """Between the bounds of a bucket all values are taken to be equally many; in the last one it is the lower bound."""
    total = buckets[-1][1]
    if buckets[-1][0] != math.inf or len(buckets) == 1 or not total:
        return math.nan
    rank = share * total
    at = next(number for number, (_, count) in enumerate(buckets) if count >= rank)
    if at == len(buckets) - 1:
        return buckets[-2][0]
    lower, below = buckets[at - 1] if at else (0.0, 0.0)
    upper, count = buckets[at]
    return lower + (upper - lower) * (rank - below) / (count - below)


def _without(labels: Labels, names: set[str]) -> Labels:
    return frozenset(each for each in labels if each[0] not in names)
