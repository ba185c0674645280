"""Connection with the login of the settings; client properties take precedence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from group_coordinator.clients.cluster.connection import Connection, login_options
from group_coordinator.clients.errors import ClientError
from group_coordinator.security import Security


def connection_of(
    servers: str, security: Security, options: Mapping[str, Any], origin: object
) -> Connection:
    """Make the connection of a command. `origin` is the file of the properties, None without a file.

    click.UsageError: settings and properties together are not a valid login.
    """
    try:
        return Connection(servers, {**login_options(security), **options})
    except ClientError as error:
        where = "" if origin is None else f"{origin}: "
        raise click.UsageError(f"{where}{error}") from error
