"""Errors that a user can fix: a plain sentence on standard error and exit status 1."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click

from group_coordinator.driver.errors import JobRefusedError
from group_coordinator.gateway.start_errors import GatewayStartError
from group_coordinator.local.broker_process import BrokerError
from group_coordinator.local.daemon import AlreadyRunsError, DamagedRecordError
from group_coordinator.local.jars import JarsError
from group_coordinator.local.java import JavaMissingError
from group_coordinator.streaming.spark_lines import UnknownSparkError

_REFUSALS = (
    AlreadyRunsError,
    BrokerError,
    DamagedRecordError,
    GatewayStartError,
    JarsError,
    JavaMissingError,
    JobRefusedError,
    UnknownSparkError,
)


@contextmanager
def refusals_shown() -> Iterator[None]:
    """Turn errors that a user can fix into click's error with status 1."""
    try:
        yield
    except _REFUSALS as error:
        raise click.ClickException(str(error)) from error
