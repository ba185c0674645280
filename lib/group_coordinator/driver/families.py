"""Collectors of metrics, shorter than with prometheus_client's own classes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric

Point = tuple[Sequence[str], float]
"""The values of the labels, and of the series."""


class Figures:
    """A collector of prometheus_client: calls a function at each scrape."""

    def __init__(self, families: Callable[[], Iterable[Metric]]) -> None:
        self._families = families

    def collect(self) -> Iterator[Metric]:
        yield from self._families()

    def describe(self) -> Iterable[Metric]:
        """Return nothing: otherwise a registry would collect before there are metrics."""
        return ()


def gauge(name: str, meaning: str, labels: Sequence[str], points: Iterable[Point]) -> Metric:
    """Return a gauge with its series.

    A name of a group or topic may have the character 0, at which Prometheus drops the whole page
    (model/textparse/promlex.l). The series has ␀0 instead, and ␀␀ instead of ␀, so that different names have different
    series.
    """
    family = GaugeMetricFamily(name, meaning, labels=labels)
    for values, number in points:
        family.add_metric(
            [value.replace("␀", "␀␀").replace("\0", "␀0") for value in values], number
        )
    return family
