"""Which records a topic holds."""

from __future__ import annotations

from kafka import KafkaConsumer, TopicPartition

from group_coordinator.clients.cluster.connection import Connection


def offsets_present(connection: Connection, topic: str) -> dict[int, range]:
    """From the first offset that is still in the topic up to the next one to be written, by partition.

    Raises:
        BrokerUnreachableError: the cluster does not answer.
    """
    with connection.opened(KafkaConsumer, enable_auto_commit=False) as consumer:
        partitions = [TopicPartition(topic, p) for p in consumer.partitions_for_topic(topic)]
        first = consumer.beginning_offsets(partitions)
        end = consumer.end_offsets(partitions)
    return {each.partition: range(first[each], end[each]) for each in partitions}
