"""What a cluster lets us do with a topic."""

from __future__ import annotations

from kafka import KafkaAdminClient

from group_coordinator.clients.cluster.connection import Connection


def operations_allowed(connection: Connection, topic: str) -> frozenset[str] | None:
    """The operations that the brokers would let this user do, by Kafka's names (READ, DESCRIBE_CONFIGS, ...).

    A cluster without an authorizer lets everybody do all. None: the cluster does not tell, or we may not see the topic.

    Raises:
        ChannelError: the cluster does not answer, or does not let us in.
    """
    with connection.opened(KafkaAdminClient) as admin:
        [described] = admin.describe_topics([topic])
    operations = described["authorized_operations"]
    return None if operations is None else frozenset(operations)
