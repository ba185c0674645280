"""Forecasts about a mirrored cluster go by what its brokers say, unless the settings say it themselves."""

from __future__ import annotations

import pytest

from group_coordinator import settings
from group_coordinator.clients.cluster.cluster import BrokerRetention, broker_retention
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.driver.mirror.run import with_retention_of_brokers
from group_coordinator.local.broker import EmbeddedBroker

pytestmark = pytest.mark.kafka

KAFKAS_DEFAULTS = BrokerRetention(retention_minutes=10_080, check_interval_ms=600_000)


@pytest.fixture
def cluster(broker: EmbeddedBroker) -> Connection:
    return Connection(broker.bootstrap_servers)


def test_a_broker_tells_its_retention(cluster: Connection) -> None:
    assert broker_retention(cluster) == KAFKAS_DEFAULTS


@pytest.mark.parametrize(
    ("given", "minutes", "interval_ms"),
    [
        ((), 10_080, 600_000),
        (("offsets.retention.check.interval.ms",), 10_080, 1_000),
        (("offsets.retention.minutes",), 5, 1_000),
        (("offsets.retention.ms",), 5, 1_000),
    ],
)
def test_settings_that_were_given_win(
    cluster: Connection, given: tuple[str, ...], minutes: int, interval_ms: int
) -> None:
    ours = settings.load(
        overrides=["offsets.retention.minutes=5", "offsets.retention.check.interval.ms=1000"]
    )

    found = with_retention_of_brokers(ours, given, cluster).coordinator

    assert found.offsets_retention_minutes == minutes
    assert found.offsets_retention_check_interval_ms == interval_ms
