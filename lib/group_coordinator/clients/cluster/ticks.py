"""Tick events: Spark runs no batch after a restart until there is data, and without a batch no deadline fires."""

from __future__ import annotations

import json

from kafka import KafkaProducer

from group_coordinator.clients.cluster.connection import Connection

_TICK = json.dumps({"api": "Tick", "version": 0, "correlationId": None, "body": {}}).encode()


def write_ticks(connection: Connection, events_topic: str) -> dict[int, int]:
    """Write one Tick to every partition; returns the offset after it, by partition.

    All records that were in the topic have lower offsets.

    Raises:
        BrokerUnreachableError: the cluster does not take them.
    """
    with connection.opened(KafkaProducer, acks="all") as producer:
        sent = {
            partition: producer.send(events_topic, key=b"", value=_TICK, partition=partition)
            for partition in producer.partitions_for(events_topic)
        }
        return {partition: future.get(30).offset + 1 for partition, future in sent.items()}
