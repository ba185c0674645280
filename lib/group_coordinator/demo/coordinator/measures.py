"""Measures of the coordinator: latencies and states of groups, as its clients see them, and the job's metrics."""

from __future__ import annotations

import re
import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Future
from math import ceil
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from msgspec import json

from group_coordinator.clients.admin.descriptions import (
    GroupDescription,
    consumer_description,
    describe_consumer_group,
    describe_group,
    description,
)
from group_coordinator.clients.channel import Body, Channel, Request
from group_coordinator.clients.errors import ClientError, GroupIdNotFoundError
from group_coordinator.demo.coordinator.applications import SALES_REPORT

DASHBOARD = Path(__file__).parents[4] / "deploy" / "grafana" / "group-coordinator.json"
"""The dashboard of a checkout; a wheel has none."""
# Prefixes of lines that need no explanation.
_SHOWN = (
    "kafka_server_group_coordinator_metrics_offset_commit_count",
    "kafka_server_group_coordinator_metrics_offset_expiration_count",
    "kafka_server_group_coordinator_metrics_offset_deletion_count",
    "kafka_server_group_coordinator_metrics_group_completed_rebalance_count",
    "kafka_server_group_coordinator_metrics_consumer_group_rebalance_count",
    f'kafka_consumergroup_lag_sum{{consumergroup="{SALES_REPORT.group_id}"',
    "group_coordinator_last_batch_seconds",
    "group_coordinator_dead_letters_total",
)
_SERIES = re.compile(r"^(\w+)[{ ]", re.MULTILINE)
# The dashboard selects every series with labels.
_SELECTED = re.compile(r"(\w+)\{")
# Present only in a job with ACLs, which the demo's job has not.
_OF_ACLS = "group_coordinator_acls_age_seconds"
_WINDOW_S = 20.0
_SURVEY_INTERVAL_S = 3.0
# Responses to these wait until all members have joined, so their latency does not depend on the coordinator.
_PENDING = frozenset({"JoinGroup", "SyncGroup"})


class Latency(NamedTuple):
    """Latencies of the responses in a time interval."""

    median_s: float
    p99_s: float


def latency_of(waits_s: Collection[float]) -> Latency | None:
    """Return median and 99th percentile (nearest rank); None without responses."""
    if not waits_s:
        return None
    ordered = sorted(waits_s)
    return Latency(median(ordered), ordered[ceil(len(ordered) * 0.99) - 1])


class MeasuredChannel:
    """A channel that counts its requests, and measures its responses, of the last seconds and of the whole demo."""

    def __init__(self, channel: Channel, clock: Callable[[], float] = time.monotonic) -> None:
        self._channel = channel
        self.clock = clock
        # Appends are atomic: responses arrive in a thread of the channel.
        self._sent: deque[float] = deque()
        self._responses: deque[tuple[float, float]] = deque()
        self._waits_s: list[float] = []
        self.sent_count = 0
        self.failed_count = 0

    def send(self, request: Request, *, timeout_ms: int | None = None) -> Future[Body]:
        sent_s = self.clock()
        self._sent.append(sent_s)
        self.sent_count += 1
        reply = self._channel.send(request, timeout_ms=timeout_ms)
        is_pending = request.api in _PENDING

        def note(done: Future[Body]) -> None:
            now_s = self.clock()
            if done.exception() is not None:
                self.failed_count += 1
            elif not is_pending:
                self._responses.append((now_s, now_s - sent_s))
                self._waits_s.append(now_s - sent_s)

        reply.add_done_callback(note)
        return reply

    def requests_per_s(self) -> float:
        now_s = self.clock()
        while self._sent and self._sent[0] < now_s - _WINDOW_S:
            self._sent.popleft()
        if not self._sent:
            return 0.0
        return len(self._sent) / max(1.0, min(_WINDOW_S, now_s - self._sent[0]))

    def recent(self) -> Latency | None:
        since_s = self.clock() - _WINDOW_S
        while self._responses and self._responses[0][0] < since_s:
            self._responses.popleft()
        return latency_of([wait_s for _, wait_s in self._responses.copy()])

    def overall(self) -> Latency | None:
        return latency_of(self._waits_s.copy())


class Survey:
    """Descriptions of all groups, a round at a time; the properties are of the last complete round."""

    # A group is described by the API of its protocol; if that API does not know it, by the other API in the same round.

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._pending: dict[str, Future[Body]] = {}
        self._due_s = 0.0
        self._consumer_groups: set[str] = set()
        self._described: dict[str, GroupDescription] = {}
        self.states: Counter[str] = Counter()
        self.member_count = 0
        self.consumer_group_count = 0

    def tick(self, now_s: float, group_ids: Collection[str]) -> None:
        """Read the responses when all have arrived, then start the next round when it is due."""
        if self._pending and all(reply.done() for reply in self._pending.values()):
            self._read_responses()
        if not self._pending and now_s >= self._due_s:
            self._due_s = now_s + _SURVEY_INTERVAL_S
            self._described = {}
            for group_id in group_ids:
                self._describe(group_id)

    def _describe(self, group_id: str) -> None:
        request = describe_consumer_group if group_id in self._consumer_groups else describe_group
        self._pending[group_id] = self._channel.send(request(group_id))

    def _read_responses(self) -> None:
        replies, self._pending = self._pending, {}
        try:
            for group_id, reply in replies.items():
                self._read(group_id, reply.result())
        except ClientError:
            self._pending = {}
            return
        if not self._pending:
            groups = self._described.values()
            self.states = Counter(group.state for group in groups)
            self.member_count = sum(len(group.members) for group in groups)
            self.consumer_group_count = sum(group.group_type == "consumer" for group in groups)

    def _read(self, group_id: str, body: Body) -> None:
        # A group that neither API knows is deleted.
        is_second = group_id in self._described
        if group_id in self._consumer_groups:
            unknown = GroupDescription(group_id, state="Dead", error=GroupIdNotFoundError())
            found = consumer_description(group_id, body) or unknown
        else:
            found = description(group_id, body)
        self._described[group_id] = found
        if found.error is not None and not is_second:
            self._consumer_groups ^= {group_id}
            self._describe(group_id)


def shown_of(page: str) -> list[str]:
    lines = page.splitlines()
    return [line for begin in _SHOWN for line in lines if line.startswith(begin)]


def on_the_dashboard(page: str) -> str:
    """Return the number of the dashboard's queries that find all their series on a page, and the titles of the others."""
    there = set(_SERIES.findall(page))
    expected = {title: query for title, query in queries() if _OF_ACLS not in names_in(query)}
    without = [title for title, query in expected.items() if not names_in(query) <= there]
    count = len(expected) - len(without)
    found = f"{count} of {len(expected)} queries of the dashboard find their series here"
    return f"{found}, not: {', '.join(without)}" if without else found


def queries() -> Iterator[tuple[str, str]]:
    dashboard: Any = json.decode(DASHBOARD.read_bytes())
    for panel in dashboard["panels"]:
        for target in panel.get("targets", ()):
            yield f"{panel['title']} {target['refId']}", target["expr"]


def names_in(query: str) -> set[str]:
    return set(_SELECTED.findall(query))
