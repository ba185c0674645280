"""Brokers' retention of committed offsets."""

from __future__ import annotations

from typing import NamedTuple

from kafka import KafkaAdminClient
from kafka.admin import ConfigResource, ConfigResourceType
from kafka.errors import BrokerResponseError

from group_coordinator.clients.cluster.connection import Connection

RETENTION, CHECK_INTERVAL = "offsets.retention.minutes", "offsets.retention.check.interval.ms"


class BrokerRetention(NamedTuple):
    """Brokers' settings of these names."""

    retention_minutes: int
    check_interval_ms: int


def broker_retention(connection: Connection) -> BrokerRetention | None:
    """Settings of a broker, as all brokers that coordinate groups should agree. None: this user may not read them.

    Raises:
        ChannelError: the cluster does not answer, or rejects the login.
    """
    with connection.opened(KafkaAdminClient) as admin:
        broker_id = str(min(each["broker_id"] for each in admin.describe_cluster()["brokers"]))
        resource = ConfigResource(ConfigResourceType.BROKER, broker_id)
        try:
            [of_brokers] = admin.describe_configs([resource], config_filter="all").values()
        except BrokerResponseError:
            return None
    values = {name: about["value"] for name, about in of_brokers.get(broker_id, {}).items()}
    if not {RETENTION, CHECK_INTERVAL} <= values.keys():
        return None
    return BrokerRetention(int(values[RETENTION]), int(values[CHECK_INTERVAL]))
