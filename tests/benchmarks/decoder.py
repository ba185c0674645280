"""The decoder of __consumer_offsets without Spark, on one thread: messages per second, from bytes to a row of the log and its JSON.

python -m tests.benchmarks.decoder
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, repeat
from time import process_time

from msgspec import json

from group_coordinator.codecs.offsets_topic import decode_entry, encode_entry
from group_coordinator.codecs.records import record_types
from group_coordinator.codecs.records.record_types import Key, LogEntry, RecordValue
from tests.benchmarks.measured import show
from tests.support.offsets_topic_messages import Message, recorded

RUNS = 5
MESSAGES = 100_000
TOPIC_ID = "4ksO1bcLSgCStYJnTlCVLg"


def measure() -> dict[str, int]:
    """The best of the runs for offset commits in both versions that brokers write, and for the recorded messages of all types."""
    everything = [message for message, verdict in recorded() if "json" in verdict]
    return {
        "offset_commits_v3": _best_rate(list(_commits(3))),
        "offset_commits_v4": _best_rate(list(_commits(4))),
        "messages_of_all_types": _best_rate(
            list(chain.from_iterable(repeat(everything, MESSAGES // len(everything))))
        ),
    }


def _commits(version: int) -> Iterator[Message]:
    for number in range(MESSAGES):
        about = {"group": f"billing-{number % 100}", "topic": "orders", "partition": number % 10}
        says = {
            "offset": number,
            "leaderEpoch": 3,
            "metadata": "",
            "commitTimestamp": 1_700_000_000_000 + number,
            "topicId": TOPIC_ID,
        }
        key = Key(record_types.OFFSET_COMMIT, about)
        yield Message(*encode_entry(LogEntry(key, RecordValue(version=version, data=says))))


def _best_rate(messages: Sequence[Message]) -> int:
    return round(len(messages) / min(_seconds(messages) for _ in range(RUNS)))


def _seconds(messages: Sequence[Message]) -> float:
    to_json = json.Encoder().encode
    start = process_time()
    for key, value in messages:
        _, entry = decode_entry(key, value)
        to_json(entry.key)
        to_json(entry.value)
    return process_time() - start


def main() -> None:
    """Print the table and the JSON."""
    show("The decoder alone, one thread: so many messages a second", measure())


if __name__ == "__main__":
    main()
