"""What a scrape shows, as a dictionary."""

from __future__ import annotations

from collections.abc import Iterable

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.metrics_core import Metric

from group_coordinator.driver.session import text_of


def scraped(registry: CollectorRegistry) -> dict[str, float]:
    """By name and labels, as the page has them."""
    return in_text(generate_latest(registry))


def in_text(text: bytes) -> dict[str, float]:
    """The same, of a text of Prometheus' format."""
    # No other character ends a line for Prometheus.
    lines = text.decode().split("\n")
    pairs = (line.rpartition(" ") for line in lines if line and not line.startswith("#"))
    return {name: float(number) for name, _, number in pairs}


def shown(families: Iterable[Metric]) -> dict[str, float]:
    """The same, of some families."""
    return in_text(text_of([*families]))
