"""The cluster that has lived a year: a thousand groups, each of which reads one topic of four partitions."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pyarrow as pa

from tests.support.log_rows import member

CLUSTER_ID = "default"
PARTITIONS = 4
GROUPS_A_TOPIC = 10
DAY_S = 86_400


@dataclass(frozen=True, slots=True)
class Cluster:
    """Group 0 and its topic are those that the views' examples ask about; the groups from `transactional` on commit in transactions."""

    groups: int
    transactional: int = 5

    @property
    def topics(self) -> int:
        return -(-self.groups // GROUPS_A_TOPIC)

    def group(self, number: int) -> str:
        return "billing" if number == 0 else f"group-{number:05}"

    def topic(self, number: int) -> str:
        """Of a group."""
        topic = number // GROUPS_A_TOPIC
        return "orders" if topic == 0 else f"topic-{topic:04}"

    def is_transactional(self, number: int) -> bool:
        return 0 < number <= self.transactional

    def names(self) -> pa.Array:
        return pa.array([self.group(number) for number in range(self.groups)])

    def keys(self) -> pa.Array:
        """Of the offsets, by group and partition."""
        return pa.array(
            json.dumps(
                {
                    "type": 1,
                    "data": {
                        "group": self.group(number),
                        "topic": self.topic(number),
                        "partition": partition,
                    },
                },
                separators=(",", ":"),
            )
            for number in range(self.groups)
            for partition in range(PARTITIONS)
        )

    def members(self, number: int) -> list[dict[str, object]]:
        """Two, with two partitions each."""
        topic = self.topic(number)
        return [
            member(f"consumer-{place}-5f0e9c1a-{number:08}", [topic], {topic: [place, place + 2]})
            for place in (0, 1)
        ]
