"""The state machine without Spark and without JSON, on one thread."""

from __future__ import annotations

from time import process_time

from group_coordinator import settings
from group_coordinator.core import coordinator
from group_coordinator.core.group import Group
from group_coordinator.core.requests import (
    OffsetCommit,
    PartitionCommit,
    RequestContext,
    TopicCommit,
)
from group_coordinator.core.values import Ticket

COMMITS = 100_000
RUNS = 5


def commits_per_second() -> int:
    """Offset commits of a simple consumer with 10 partitions, decided and applied; the best of some runs."""
    return round(COMMITS / min(_seconds() for _ in range(RUNS)))


def _seconds() -> float:
    config = settings.load().coordinator
    group = Group("g")
    requests = [_commit(number) for number in range(COMMITS)]
    contexts = [
        RequestContext(number, Ticket(f"e-{number}", f"c-{number}", 8), "billing", "/10.0.0.7", "")
        for number in range(COMMITS)
    ]
    start = process_time()
    for request, context in zip(requests, contexts, strict=True):
        for _ in coordinator.advance(group, context.now_ms, config):
            pass
        coordinator.handle(group, request, context, config)
    return process_time() - start


def _commit(number: int) -> OffsetCommit:
    partition = PartitionCommit(number % 10, number, None, None, None)
    return OffsetCommit("g", None, "", None, None, (TopicCommit("orders", None, (partition,)),))
