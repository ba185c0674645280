"""The state machine without Spark and without JSON, on one thread: decided and applied per second.

python -m tests.benchmarks.core_alone
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import process_time

from group_coordinator import settings
from group_coordinator.core import coordinator
from group_coordinator.core.embedded_protocol import encode_subscription
from group_coordinator.core.model.classic_member import Protocol, ReplyAddress
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.requests import (
    Heartbeat,
    JoinGroup,
    OffsetCommit,
    PartitionCommit,
    Request,
    RequestContext,
    SyncGroup,
    TopicCommit,
)
from group_coordinator.testing import GroupDriver
from tests.benchmarks.measured import show

RUNS = 5
COMMITS = 100_000
HEARTBEATS = 100_000
CYCLES = 10_000

Requests = Sequence[tuple[Request, RequestContext]]


def commits_per_second() -> int:
    """Offset commits of a simple consumer with 10 partitions."""
    requests = [(_commit(number), _context(number, 8)) for number in range(COMMITS)]
    return _best_rate(COMMITS, lambda: (Group("g"), requests))


def heartbeats_per_second() -> int:
    """Heartbeats of the only member of a Stable group."""
    driver = GroupDriver()
    (member_id,) = driver.form()
    beat = Heartbeat("g", 1, member_id, None)
    requests = [(beat, _context(driver.now_ms + number % 1_000, 4)) for number in range(HEARTBEATS)]
    return _best_rate(HEARTBEATS, lambda: (driver.group, requests))


def rebalances_per_second() -> int:
    """Join-sync cycles of a group of one: JoinGroup begins a generation, SyncGroup makes it Stable."""
    return max(_cycle_rate() for _ in range(RUNS))


def _cycle_rate() -> int:
    driver = GroupDriver()
    (member_id,) = driver.form()
    subscribed = ("orders",)
    protocol = Protocol("range", encode_subscription(subscribed))
    join = JoinGroup(
        group_id="g",
        session_timeout_ms=10_000,
        rebalance_timeout_ms=60_000,
        member_id=member_id,
        group_instance_id=None,
        protocol_type="consumer",
        protocols=(protocol,),
    )
    group, config, now_ms = driver.group, driver.config, driver.now_ms
    joins = [_context(now_ms + number, 9) for number in range(CYCLES)]
    syncs = [
        SyncGroup(
            group_id="g",
            generation=generation,
            member_id=member_id,
            group_instance_id=None,
            protocol_type="consumer",
            protocol="range",
            assignments=((member_id, b"a"),),
        )
        for generation in range(2, CYCLES + 2)
    ]
    start = process_time()
    for context, sync in zip(joins, syncs, strict=True):
        _apply(group, join, context, config)
        _apply(group, sync, context, config)
    seconds = process_time() - start
    assert group.membership is not None
    assert group.membership.generation == CYCLES + 1
    return round(CYCLES / seconds)


def _best_rate(count: int, prepared: Callable[[], tuple[Group, Requests]]) -> int:
    return round(count / min(_seconds(*prepared()) for _ in range(RUNS)))


def _seconds(group: Group, requests: Requests) -> float:
    config = settings.load().coordinator
    start = process_time()
    for request, context in requests:
        _apply(group, request, context, config)
    return process_time() - start


def _apply(
    group: Group, request: Request, context: RequestContext, config: CoordinatorConfig
) -> None:
    for _ in coordinator.advance(group, context.now_ms, config):
        pass
    coordinator.handle(group, request, context, config)


def _context(now_ms: int, version: int) -> RequestContext:
    return RequestContext(
        now_ms=now_ms,
        ticket=ReplyAddress("e", "c", version),
        client_id="billing",
        client_host="/10.0.0.7",
        fresh_id="",
        fresh_short_id="",
    )


def _commit(number: int) -> OffsetCommit:
    partition = PartitionCommit(number % 10, number, None, None, None)
    return OffsetCommit(
        group_id="g",
        generation=None,
        member_id="",
        group_instance_id=None,
        retention_time_ms=None,
        topics=(TopicCommit("orders", None, (partition,)),),
    )


def main() -> None:
    """Print the table and the JSON."""
    show(
        "The core alone, one thread: so many a second",
        {
            "offset_commits": commits_per_second(),
            "heartbeats": heartbeats_per_second(),
            "join_sync_cycles": rebalances_per_second(),
        },
    )


if __name__ == "__main__":
    main()
