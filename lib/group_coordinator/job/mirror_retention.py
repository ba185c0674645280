"""How long the mirrored cluster keeps offsets: the brokers are asked, unless the settings say it."""

from __future__ import annotations

import logging
from collections.abc import Collection
from dataclasses import replace

from group_coordinator.clients.cluster.broker_retention import (
    CHECK_INTERVAL,
    RETENTION,
    broker_retention,
)
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.settings import Settings

_log = logging.getLogger(__name__)


def with_retention_of_brokers(
    settings: Settings, given: Collection[str], connection: Connection
) -> Settings:
    """The settings with the brokers' retention of offsets, for forecasts, unless they say otherwise themselves.

    Raises:
        ChannelError: the cluster does not answer, or does not let us in.
    """
    coordinator = settings.coordinator
    if {RETENTION, "offsets.retention.ms"} & set(given):
        _log.info("offsets are kept for %d ms, by the settings", coordinator.retention_ms)
        return settings
    found = broker_retention(connection)
    if found is None:
        _log.warning(
            "the brokers do not tell %s (ACL DESCRIBE_CONFIGS on the cluster): forecasts go by the setting, %d",
            RETENTION,
            coordinator.offsets_retention_minutes,
        )
        return settings
    _log.info("the brokers keep offsets for %d minutes: forecasts go by that", found[0])
    check_interval_ms = (
        coordinator.offsets_retention_check_interval_ms
        if CHECK_INTERVAL in given
        else found.check_interval_ms
    )
    theirs = replace(
        coordinator,
        offsets_retention_minutes=found.retention_minutes,
        offsets_retention_check_interval_ms=check_interval_ms,
    )
    return replace(settings, coordinator=theirs)
