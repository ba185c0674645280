"""What the gateway counts, and how monitoring reads it."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
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
