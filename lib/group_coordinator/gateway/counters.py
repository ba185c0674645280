"""Counters of the gateway, and their text for Prometheus."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import NamedTuple

from group_coordinator.gateway.served import Api

BOUNDS_S = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0)
"""seconds. The upper ends of the ranges in which answers are counted."""


class AnswerTimes:
    """How long the answers to one API took."""

    def __init__(self) -> None:
        self.counts = [0] * (len(BOUNDS_S) + 1)
        self.sum_s = 0.0

    def add(self, seconds: float) -> None:
        """One more answer."""
        self.counts[bisect_left(BOUNDS_S, seconds)] += 1
        self.sum_s += seconds


class Counters:
    """Counted since the start."""

    def __init__(self) -> None:
        self.connections = 0
        self.requests: Counter[tuple[str, int, int | None]] = Counter()
        self.refused: Counter[tuple[str, int | None]] = Counter()
        self.malformed = 0
        self.closed: Counter[str] = Counter()
        """Connections that a limit closed, by its name."""
        self.failed = 0
        self.answers: dict[str, AnswerTimes] = {}

    def count_request(self, api: Api, version: int, node_id: int | None) -> None:
        """A request was taken; ApiVersions is in every version."""
        self.requests[api.name, _counted(api, version), node_id] += 1

    def count_refused(self, api: Api | None, version: int) -> None:
        """A request was not taken."""
        if api is None:
            self.refused["unknown", None] += 1
        else:
            self.refused[api.name, _counted(api, version)] += 1

    def count_answer(self, api: str, seconds: float) -> None:
        """The job answered, after so long."""
        self.answers.setdefault(api, AnswerTimes()).add(seconds)


def _counted(api: Api, version: int) -> int:
    """Strangers choose keys and versions: all that is above or below the served ones counts as one."""
    if version in api.versions:
        return version
    return min(max(version, api.versions[0] - 1), api.versions[-1] + 1)


class Gauges(NamedTuple):
    """What is so now."""

    connections: int
    open_requests: int
    parked_requests: int
    """Joins and syncs, which wait until their group has met."""
    nodes_without_port: int
    """Brokers that clients do not find."""
    throttled: int
    """Since the start: how often a connection was not read on, as its client had its share open."""


_PREFIX = "group_coordinator_gateway"


def metrics_page(counters: Counters, gauges: Gauges) -> str:
    """One line a figure."""
    return "".join(f"{_PREFIX}_{line}\n" for line in _lines(counters, gauges))


def _lines(counters: Counters, gauges: Gauges) -> Iterator[str]:
    yield f"connections {gauges.connections}"
    yield f"open_requests {gauges.open_requests}"
    yield f"parked_requests {gauges.parked_requests}"
    yield f"nodes_without_port {gauges.nodes_without_port}"
    yield f"throttled_total {gauges.throttled}"
    yield f"connections_total {counters.connections}"
    yield f"malformed_total {counters.malformed}"
    yield f"failed_total {counters.failed}"
    for reason, count in counters.closed.items():
        yield f'closed_total{{reason="{reason}"}} {count}'
    for (api, version, node_id), count in counters.requests.items():
        place = "bootstrap" if node_id is None else f"node-{node_id}"
        yield f'requests_total{{api="{api}",version="{version}",place="{place}"}} {count}'
    for (api, refused_version), count in counters.refused.items():
        version_label = "" if refused_version is None else f',version="{refused_version}"'
        yield f'refused_total{{api="{api}"{version_label}}} {count}'
    for api, times in counters.answers.items():
        yield from _histogram(api, times)


def _histogram(api: str, times: AnswerTimes) -> Iterable[str]:
    bounds = [*map(str, BOUNDS_S), "+Inf"]
    for bound, count in zip(bounds, accumulate(times.counts), strict=True):
        yield f'answer_seconds_bucket{{api="{api}",le="{bound}"}} {count}'
    yield f'answer_seconds_sum{{api="{api}"}} {times.sum_s:.6f}'
    yield f'answer_seconds_count{{api="{api}"}} {sum(times.counts)}'
