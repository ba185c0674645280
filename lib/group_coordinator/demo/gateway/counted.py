"""Counters of the gateway, read from its metrics page."""

from __future__ import annotations

import re
from collections import Counter
from math import inf
from typing import NamedTuple

from group_coordinator.demo.pages import page_at

_LINE = re.compile(r"group_coordinator_gateway_(\w+)(?:\{(.*)\})? (\S+)")
_LABEL = re.compile(r'(\w+)="([^"]*)"')
# Responses to these wait until all members have joined, so their latency does not depend on the job.
_PARKED = frozenset({"JoinGroup", "SyncGroup"})
_MOST = 0.95


class Counted(NamedTuple):
    """Counts since the gateway's start, except `connections` and `parked`, which are present values."""

    connections: int
    parked: int
    """Joins and syncs that wait for their group."""
    requests: int
    answers: int
    """Requests with a response of the job."""
    half_within_s: float | None
    """Half of the responses took no longer, without joins and syncs, rounded up to a bucket of the histogram; None:
    they took longer.
    """
    most_within_s: float | None
    """The same for 95 of 100."""


class GatewayPages:
    """The gateway's health port, HOST:PORT."""

    def __init__(self, address: str) -> None:
        self._url = f"http://{address}"

    def is_ready(self) -> bool:
        """Return True if the gateway accepts clients."""
        return page_at(f"{self._url}/ready") is not None

    def counted(self) -> Counted | None:
        """Return the counters; None: the gateway does not respond."""
        page = page_at(f"{self._url}/metrics")
        return None if page is None else counted_on(page)


def counted_on(page: str) -> Counted:
    """Return the figures of a page in Prometheus' text format."""
    totals: Counter[str] = Counter()
    within: Counter[float] = Counter()
    for name, labels, value in _LINE.findall(page):
        labelled = dict(_LABEL.findall(labels))
        if name == "answer_seconds_bucket" and labelled["api"] not in _PARKED:
            within[float(labelled["le"].replace("+Inf", "inf"))] += int(value)
        elif name in {"connections", "parked_requests", "requests_total", "answer_seconds_count"}:
            totals[name] += int(value)
    return Counted(
        totals["connections"],
        totals["parked_requests"],
        totals["requests_total"],
        totals["answer_seconds_count"],
        _bound(within, 0.5),
        _bound(within, _MOST),
    )


def _bound(within: Counter[float], share: float) -> float | None:
    wanted = within[inf] * share
    found = (bound for bound in sorted(within) if wanted and within[bound] >= wanted)
    bound = next(found, inf)
    return None if bound == inf else bound
