"""A consumer in a process of its own, for stories in which it is killed: SERVERS GROUP NAME TOPIC.

It goes when its input ends.
"""

from __future__ import annotations

import sys
from select import select

from confluent_kafka import Consumer

servers, group, name, topic = sys.argv[1:]
known = {"bootstrap.servers": servers, "group.id": group, "client.id": name}
consumer = Consumer(known | {"group.protocol": "consumer"})
consumer.subscribe([topic])
while not select([sys.stdin], [], [], 0)[0]:
    consumer.poll(0.05)
