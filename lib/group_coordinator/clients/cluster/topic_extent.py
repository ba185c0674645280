"""Which records a topic holds."""

from __future__ import annotations

from kafka import KafkaConsumer, TopicPartition
from kafka.errors import KafkaError

from group_coordinator.clients.cluster.connection import Connection


def offsets_present(connection: Connection, topic: str) -> dict[int, range]:
    """From the first offset that is still there to the one that comes next, by partition.

    Raises:
        BrokerUnreachableError: the cluster does not answer.
    """
    connection.local_address()
    consumer = connection.open(KafkaConsumer, enable_auto_commit=False)
    try:
        partitions = [TopicPartition(topic, p) for p in consumer.partitions_for_topic(topic)]
        first = consumer.beginning_offsets(partitions)
        end = consumer.end_offsets(partitions)
    except KafkaError as error:
        raise connection.failure(error) from error
    finally:
        consumer.close()
    return {each.partition: range(first[each], end[each]) for each in partitions}
