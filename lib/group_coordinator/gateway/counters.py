"""Counters of the gateway in Prometheus' text format."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate
from typing import NamedTuple

from group_coordinator.gateway.api_versions import ServedApi

BOUNDS_S = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0)
"""seconds. Upper bounds of the histogram of response times."""


class ResponseTimes:
    def __init__(self) -> None:
        self.counts = [0] * (len(BOUNDS_S) + 1)
        self.sum_s = 0.0

    def add(self, seconds: float) -> None:
        self.counts[bisect_left(BOUNDS_S, seconds)] += 1
        self.sum_s += seconds


class Counters:
    def __init__(self) -> None:
        self.connections = 0
        self.requests: Counter[tuple[str, int, int | None]] = Counter()
        self.refused: Counter[tuple[str, int | None]] = Counter()
        self.malformed = 0
        self.closed: Counter[str] = Counter()
        """Connections that a limit closed, by the limit's name."""
        self.failed = 0
        self.answers: dict[str, ResponseTimes] = {}

    def count_request(self, api: ServedApi, version: int, node_id: int | None) -> None:
        """Count an accepted request by API, version and node. ApiVersions is accepted in every version."""
        self.requests[api.name, _counted(api, version), node_id] += 1

    def count_refused(self, api: ServedApi | None, version: int) -> None:
        if api is None:
            self.refused["unknown", None] += 1
        else:
            self.refused[api.name, _counted(api, version)] += 1

    def count_answer(self, api: str, seconds: float) -> None:
        self.answers.setdefault(api, ResponseTimes()).add(seconds)


def _counted(api: ServedApi, version: int) -> int:
    # Clients choose versions freely: all versions above or below the served range share one label.
    if version in api.versions:
        return version
    return min(max(version, api.versions[0] - 1), api.versions[-1] + 1)


class Gauges(NamedTuple):
    """Gauges of the gateway at one time."""

    connections: int
    open_requests: int
    parked_requests: int
    """JoinGroup and SyncGroup requests that wait for other members."""
    nodes_without_port: int
    throttled: int
    """Counter since the start: pauses of connections, as their clients were over the limit."""


_PREFIX = "group_coordinator_gateway"


def metrics_page(counters: Counters, gauges: Gauges, figures: Mapping[str, int]) -> str:
    """Prometheus page with a line for each sample. `figures` are more samples by name."""
    more = (f"{name} {figure}" for name, figure in figures.items())
    return "".join(f"{_PREFIX}_{line}\n" for line in (*_lines(counters, gauges), *more))


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


def _histogram(api: str, times: ResponseTimes) -> Iterable[str]:
    # Prometheus' buckets are cumulative.
    bounds = [*map(str, BOUNDS_S), "+Inf"]
    for bound, count in zip(bounds, accumulate(times.counts), strict=True):
        yield f'answer_seconds_bucket{{api="{api}",le="{bound}"}} {count}'
    yield f'answer_seconds_sum{{api="{api}"}} {times.sum_s:.6f}'
    yield f'answer_seconds_count{{api="{api}"}} {sum(times.counts)}'
