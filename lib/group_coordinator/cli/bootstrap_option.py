"""The option --bootstrap-server: the addresses of a Kafka cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from group_coordinator.codecs.host_and_port import AddressError, broker_list

Function = TypeVar("Function", bound=Callable[..., Any])


def bootstrap_server_option(meaning: str) -> Callable[[Function], Function]:
    """Add --bootstrap-server with this help. `broker_list` checks and converts its value."""
    return click.option("--bootstrap-server", type=_brokers, metavar="HOST:PORT", help=meaning)


def _brokers(text: str) -> str:
    try:
        return broker_list(text)
    except AddressError as error:
        raise click.BadParameter(str(error)) from error
