"""The counters in the text format that Prometheus reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import accumulate

from group_coordinator.gateway.counters import BOUNDS_S, AnswerTimes, Counters, Gauges

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
