"""One commit in a group that has 10,000 offsets: its time without Spark, and the size of the group's state.

python -m tests.benchmarks.big_group
"""

from __future__ import annotations

from statistics import median
from time import process_time

from group_coordinator.runtime.outputs import EventRow
from tests.benchmarks.measured import show
from tests.benchmarks.throughput import commit_of
from tests.support.group_updates import update_context, updated

TOPICS, PARTITIONS = 100, 100
RUNS = 21
START_MS = 1_767_225_600_000


def measure() -> dict[str, float]:
    """The median time of a commit, from state bytes to state bytes, and the bytes of an offset."""
    context = update_context()
    offsets = {
        f"a-topic-of-some-length-{topic}": {p: 123_456_789 + p for p in range(PARTITIONS)}
        for topic in range(TOPICS)
    }
    whole = EventRow(START_MS, 0, 0, None, commit_of("g", offsets))
    state = updated("g", None, [whole], START_MS, context).state
    one = EventRow(START_MS + 1, 0, 1, None, commit_of("g", {"a-topic-of-some-length-7": {7: 8}}))
    seconds = []
    for _ in range(RUNS):
        start = process_time()
        updated("g", state, [one], START_MS + 1_000, context)
        seconds.append(process_time() - start)
    assert state is not None
    return {
        "offsets": TOPICS * PARTITIONS,
        "commit_ms": round(median(seconds) * 1_000, 2),
        "bytes_an_offset": round(len(state) / (TOPICS * PARTITIONS), 1),
    }


if __name__ == "__main__":
    show("One commit in a large group", measure())
