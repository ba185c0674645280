"""The codec of Kafka's wire protocol on one thread: requests a second, from bytes to a dict and back.

python -m tests.benchmarks.wire

Beside it, in the same run: kafka-python's classes, which read into objects of their own, of which a dict with Kafka's names is
still to be made.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import repeat
from time import process_time
from typing import Any, NamedTuple

from kafka.protocol.consumer import HeartbeatRequest, JoinGroupRequest, OffsetCommitRequest

from group_coordinator.codecs import wire
from tests.benchmarks.measured import show

RUNS = 5
SECONDS_A_RUN = 0.1


class Sample(NamedTuple):
    """A request, and kafka-python's class for it."""

    request: str
    version: int
    body: dict[str, Any]
    theirs: Any


MEMBER = {"groupId": "billing", "memberId": "consumer-1-4f1c2a9e-4c1e-4f0e-9d5b-0c9a7d0e2b11"}


def _commit(partitions: int) -> Sample:
    offsets = [
        {
            "partitionIndex": number,
            "committedOffset": 1_000_000 + number,
            "committedLeaderEpoch": 3,
            "committedMetadata": "",
        }
        for number in range(partitions)
    ]
    topics = [{"name": "orders", "partitions": offsets}]
    body = MEMBER | {"generationIdOrMemberEpoch": 7, "groupInstanceId": None, "topics": topics}
    return Sample("OffsetCommitRequest", 9, body, OffsetCommitRequest)


SAMPLES = {
    "heartbeat": Sample(
        "HeartbeatRequest",
        4,
        MEMBER | {"generationId": 7, "groupInstanceId": None},
        HeartbeatRequest,
    ),
    "commit_of_1_partition": _commit(1),
    "commit_of_100_partitions": _commit(100),
    "join": Sample(
        "JoinGroupRequest",
        9,
        MEMBER
        | {
            "sessionTimeoutMs": 45_000,
            "rebalanceTimeoutMs": 300_000,
            "groupInstanceId": None,
            "protocolType": "consumer",
            "protocols": [
                {"name": "range", "metadata": "AAMAAAABAAZvcmRlcnP/////AAAAAAAA////////"},
                {"name": "cooperative-sticky", "metadata": "AAMAAAABAAZvcmRlcnMAAAAEAAAAAA=="},
            ],
            "reason": None,
        },
        JoinGroupRequest,
    ),
}


def measure() -> dict[str, int]:
    """The best of the runs, by request and by who does what."""
    return {
        f"{name}_{what}": rate
        for name, sample in SAMPLES.items()
        for what, rate in _rates(sample).items()
    }


def _rates(sample: Sample) -> dict[str, int]:
    name, version = sample.request, sample.version
    data = wire.encode(name, version, sample.body)
    theirs = sample.theirs.decode(data, version=version)
    theirs.with_header()
    theirs.API_VERSION = version
    assert wire.decode(name, version, data) == sample.body
    assert theirs.encode() == data
    return {
        "decode": _best_rate(lambda: wire.decode(name, version, data)),
        "encode": _best_rate(lambda: wire.encode(name, version, sample.body)),
        "kafka_python_decode": _best_rate(lambda: sample.theirs.decode(data, version=version)),
        "kafka_python_encode": _best_rate(theirs.encode),
    }


def _best_rate(work: Callable[[], object]) -> int:
    """In CPU time, so that a busy machine counts less."""
    times = 1
    while (seconds := _seconds(work, times)) < SECONDS_A_RUN:
        times *= 2
    return round(times / min(seconds, *(_seconds(work, times) for _ in range(RUNS - 1))))


def _seconds(work: Callable[[], object], times: int) -> float:
    start = process_time()
    for _ in repeat(None, times):
        work()
    return process_time() - start


def main() -> None:
    """Print the table and the JSON."""
    show("The wire codec alone, one thread: so many requests a second", measure())


if __name__ == "__main__":
    main()
