"""Users of clients at the brokers, and users of the coordinator's own topics, as fixed before the start."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.codecs.host_and_port import is_loopback
from group_coordinator.core.acls.rule import ANONYMOUS
from group_coordinator.gateway.cluster.broker_link import BrokerLink
from group_coordinator.gateway.cluster.cluster_view import ClusterView
from group_coordinator.gateway.rights.own_topics import Closed
from group_coordinator.gateway.start_errors import GatewayStartError
from group_coordinator.settings import JobSettings

ONE_USER_TOLD = (
    "gateway.clients.share.one.user = true: at the brokers all clients of the gateway are the user of its certificate "
    "(ssl.keystore.location), with all rights of that user but those on the coordinator's own topics"
)
_TOKEN_APIS = frozenset(
    f"{verb}DelegationToken" for verb in ("Create", "Renew", "Expire", "Describe")
)
"""APIs of delegation tokens: a token of the gateway's user would admit a client to the brokers' other listeners."""
_ANSWER_TIMEOUT_S = 10.0


def clients_share_one_user(job: JobSettings, options: Mapping[str, Any]) -> bool:
    """Return True if brokers know users by certificate, and see the gateway's certificate for all clients.

    Options are kafka-python's.
    """
    is_by_certificate = options.get("security_protocol") == "SSL" and options.get("ssl_certfile")
    return bool(is_by_certificate) and job.gateway_clients_share_one_user


def lends_certificate(job: JobSettings, options: Mapping[str, Any]) -> bool:
    """Return True if clients' connections to brokers show the gateway's certificate.

    Where brokers know users by login, the certificate stands for no user. The gateway shows it for clients that have
    shown their own.
    """
    if _is_by_login(options):
        return bool(job.gateway_ssl_truststore_location)
    return clients_share_one_user(job, options)


async def check_clients_are_answered(view: ClusterView) -> None:
    """Connect to a broker without the gateway's certificate, as clients will.

    Raises:
        GatewayStartError: no broker answers.
    """
    # The gateway's own connections are like its clients', and have already succeeded.
    if view.access.of_clients is view.access:
        return
    failure: Exception | None = None
    for broker in view.addresses_of(None):
        try:
            async with asyncio.timeout(_ANSWER_TIMEOUT_S):
                link = await BrokerLink.open(broker, view.access.of_clients)
        except (OSError, EOFError) as error:  # TimeoutError is one
            failure = error
        else:
            link.close()
            return
    raise GatewayStartError(_no_way(by_login=view.access.wants_login)) from failure


def check_passwords_are_hidden(job: JobSettings, host: str, options: Mapping[str, Any]) -> None:
    """Raise GatewayStartError if passwords of clients could be read on their way to plain ports at `host`."""
    if (
        _is_by_login(options)
        and not job.gateway_allow_plaintext_passwords
        and not is_loopback(host)
    ):
        raise GatewayStartError(
            f"gateway.listen = {job.gateway_listen}: clients would log in without TLS, and their passwords could be read "
            "on the way: set gateway.ssl.keystore.location, or listen on 127.0.0.1; behind a proxy that ends TLS set "
            "gateway.allow.plaintext.passwords = true"
        )


def closed_to_clients(job: JobSettings, connection: Connection) -> Closed:
    """Close the job's topics to all users but the gateway's and the job's, if these log in by name."""
    logins = (connection.options, job.security.python_options())
    names = (login.get("sasl_plain_username") for login in logins)
    return Closed(
        frozenset({job.events_topic, job.responses_topic}),
        # Without a login every client is anonymous, so that name opens no topic.
        frozenset(f"User:{name}" for name in names if name) - {ANONYMOUS},
        _TOKEN_APIS if clients_share_one_user(job, connection.options) else frozenset(),
    )


def _is_by_login(options: Mapping[str, Any]) -> bool:
    return str(options.get("security_protocol")).startswith("SASL_")


def _no_way(*, by_login: bool) -> str:
    if by_login:
        return (
            "security.protocol = SASL_SSL: brokers require a certificate in addition to the login, and the "
            "gateway shows its own (ssl.keystore.location) only for clients that show a certificate to the "
            "gateway: set gateway.ssl.truststore.location"
        )
    return (
        "security.protocol = SSL: brokers know users by certificate, and all clients of the gateway would be "
        "the user of its certificate (ssl.keystore.location): use a listener of the brokers with SASL_SSL, or "
        "set gateway.clients.share.one.user = true"
    )
