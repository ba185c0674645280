"""A consumer in a process of its own, for stories in which it is killed: SERVERS GROUP NAME TOPIC.

It prints a line when it has got partitions; nobody needs it any more when its input ends.
"""

from __future__ import annotations

import sys
from select import select

from confluent_kafka import Consumer, TopicPartition

servers, group, name, topic = sys.argv[1:]


def assigned(_: Consumer, partitions: list[TopicPartition]) -> None:
    """Say how many there are."""
    if partitions:
        print(len(partitions), flush=True)


consumer = Consumer(
    {"bootstrap.servers": servers, "group.id": group, "client.id": name, "group.protocol": "consumer"}
)
consumer.subscribe([topic], on_assign=assigned)
while not select([sys.stdin], [], [], 0)[0]:
    consumer.poll(0.05)
