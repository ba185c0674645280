"""Checks which rights a program has at the brokers; writes the commands that grant the missing rights."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import NamedTuple

from kafka import KafkaAdminClient

from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.held_rights import has_right
from group_coordinator.core.acls.rule import ANONYMOUS, ResourceType, Right
from group_coordinator.job.program_rights import RIGHTS, Need, right_of
from group_coordinator.settings import JobSettings

_RESOURCE_OPTIONS = {
    ResourceType.TOPIC: "--topic",
    ResourceType.GROUP: "--group",
    ResourceType.TRANSACTIONAL_ID: "--transactional-id",
}
"""Options of kafka-acls.sh for a resource and its name; the cluster has no name."""
_NAMED_ELSEWHERE = ("sasl_mechanism", "ssl_certfile")
"""Options of logins whose principal only the brokers know."""


class LookedAt(NamedTuple):
    """A right of a program, and whether its user has the right; None: the brokers do not say."""

    need: Need
    right: Right
    is_held: bool | None


def look_at_rights(program: str, job: JobSettings, connection: Connection) -> Iterator[LookedAt]:
    """Ask the brokers for each right that the program needs with these settings.

    Raises:
        ChannelError: the cluster does not respond, or the login fails.
    """
    with connection.opened(KafkaAdminClient) as admin:
        for need in RIGHTS[program]:
            if need.due(job):
                right = right_of(need, job)
                yield LookedAt(need, right, has_right(admin, right))


def missing_told(program: str, missing: LookedAt, connection: Connection) -> str:
    """Describe a missing right in one sentence: user, right, consequence, and the command that grants the right."""
    need, principal = missing.need, _principal(connection)
    consequence = f"; without it {need.without}" if need.without else ""
    return (
        f"{principal} lacks {named(missing.right)}, which `{program}` needs for {need.purpose}{consequence}: "
        f"run {grant_command(missing.right, principal, connection.bootstrap_servers)}"
    )


def named(right: Right) -> str:
    """Name the right in Kafka's words."""
    return f"{right.operation} on {right.kind} {right.name}"


def grant_command(right: Right, principal: str, bootstrap_servers: str) -> str:
    """Return the command of kafka-acls.sh that grants the right."""
    option = _RESOURCE_OPTIONS.get(right.kind)
    resource = [option, right.name] if option else ["--cluster"]
    operation = right.operation.title().replace("_", "")
    return shlex.join(
        [
            *("kafka-acls.sh", "--bootstrap-server", bootstrap_servers, "--add"),
            *("--allow-principal", principal, "--operation", operation, *resource),
        ]
    )


def _principal(connection: Connection) -> str:
    if connection.principal == ANONYMOUS and any(map(connection.options.get, _NAMED_ELSEWHERE)):
        return "User:NAME"
    return connection.principal
