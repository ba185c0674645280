"""The assignors on large groups, on one thread, without Spark: milliseconds for one new target assignment.

python -m tests.benchmarks.assignors
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from random import Random
from statistics import median
from time import process_time

from group_coordinator.core.assignors import ASSIGNORS
from group_coordinator.core.assignors.spec import (
    Assignment,
    Assignor,
    MemberSpec,
    SubscriptionType,
    TopicSpec,
)
from group_coordinator.core.kafka_order import member_order, string_hash
from tests.benchmarks.measured import show

RUNS = 7
TOPICS = 1_000
BUCKETS = 5

Specs = tuple[dict[str, MemberSpec], dict[str, TopicSpec]]

_draw = Random(848)  # noqa: S311 - the same every time, no secret


def measure() -> dict[str, float]:
    """The median of the runs for each kind of assignment, in milliseconds, Kafka's order of the members included."""
    alike = _alike(members=10_000, partitions=100_000)
    mixed = _mixed(members=5_000, partitions=250_000)
    uniform, ranges = ASSIGNORS["uniform"], ASSIGNORS["range"]
    same, different = SubscriptionType.HOMOGENEOUS, SubscriptionType.HETEROGENEOUS
    return {
        "uniform_homogeneous_first_ms": _milliseconds(uniform, alike, same),
        "uniform_homogeneous_one_joins_ms": _milliseconds(uniform, _joined(alike, uniform), same),
        "range_homogeneous_first_ms": _milliseconds(ranges, alike, same),
        "range_homogeneous_one_joins_ms": _milliseconds(ranges, _joined(alike, ranges), same),
        "range_heterogeneous_first_ms": _milliseconds(ranges, mixed, different),
        "uniform_heterogeneous_first_ms": _milliseconds(uniform, mixed, different),
        "uniform_heterogeneous_one_joins_ms": _milliseconds(
            uniform, _joined(mixed, uniform), different
        ),
    }


def _alike(members: int, partitions: int) -> Specs:
    """All members want all topics."""
    topics = _topics(partitions)
    wanted = frozenset(topics)
    return {_id(): MemberSpec(None, None, wanted, {}) for _ in range(members)}, topics


def _mixed(members: int, partitions: int) -> Specs:
    """Members and topics are in buckets, as in Kafka's own benchmark; every other member wants two buckets."""
    topics = _topics(partitions)
    ids = list(topics)
    wishes = [frozenset(ids[bucket::BUCKETS]) for bucket in range(BUCKETS)]
    wishes += [one | another for one, another in zip(wishes, wishes[1:] + wishes[:1], strict=True)]
    specs = {
        _id(): MemberSpec(None, None, wishes[number % len(wishes)], {}) for number in range(members)
    }
    return specs, topics


def _joined(specs: Specs, assignor: Assignor) -> Specs:
    """The same group with its targets, and one member more."""
    members, topics = specs
    assigned = assignor(members, topics)
    before = {
        member_id: member.replace(assignment=assigned[member_id])
        for member_id, member in members.items()
    }
    newcomer = next(iter(members.values())).replace(assignment={})
    return before | {_id(): newcomer}, topics


def _topics(partitions: int) -> dict[str, TopicSpec]:
    return {_id(): TopicSpec(partitions // TOPICS, None) for _ in range(TOPICS)}


def _id() -> str:
    return base64.urlsafe_b64encode(_draw.randbytes(16)).decode()[:22]


def _milliseconds(assignor: Assignor, specs: Specs, kind: SubscriptionType) -> float:
    members, topics = specs
    *present, updated = members
    seconds = []
    for _ in range(RUNS):
        string_hash.cache_clear()
        start = process_time()
        order = member_order(present, updated)
        found = assignor({member_id: members[member_id] for member_id in order}, topics, kind)
        seconds.append(process_time() - start)
        assert _count(found) == sum(topic.num_partitions for topic in topics.values())
    return round(median(seconds) * 1_000, 1)


def _count(assignments: Mapping[str, Assignment]) -> int:
    return sum(
        len(partitions) for assignment in assignments.values() for partitions in assignment.values()
    )


if __name__ == "__main__":
    show("A new target assignment of a large group", measure())
