"""Life of a gateway, from its settings to the end of its shutdown.

Before the start it fixes the users of clients at the brokers, and the users of the coordinator's own topics.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import signal
from asyncio import TaskGroup
from collections.abc import Mapping
from contextlib import ExitStack
from functools import partial
from http import HTTPStatus
from typing import Any

from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.errors import ClientError
from group_coordinator.codecs.host_and_port import is_loopback
from group_coordinator.core.acls import ANONYMOUS
from group_coordinator.gateway import GatewayStartError
from group_coordinator.gateway.cluster.addresses import (
    Address,
    advertised_host,
    check_protocol,
    listen_address,
)
from group_coordinator.gateway.cluster.broker_access import BrokerAccess, listener_context
from group_coordinator.gateway.cluster.broker_links import BrokerLink
from group_coordinator.gateway.cluster.cluster_view import ClusterView
from group_coordinator.gateway.connections.admission import ConnectionLimits
from group_coordinator.gateway.connections.tcp_connection import (
    CertificateRenewal,
    begin_small,
    connections_within_limit,
)
from group_coordinator.gateway.counters import metrics_page
from group_coordinator.gateway.gateway import Gateway, GatewayOptions
from group_coordinator.gateway.group_part import GroupService, OpenGroups
from group_coordinator.gateway.health_port import Pages, cluster_check, health_port, ready_page
from group_coordinator.gateway.rights.own_topics import Closed
from group_coordinator.observability.http_server import Page
from group_coordinator.observability.logs import set_up_logs
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
    """Return True if brokers know users by certificate, and see the gateway's for all clients. Options are kafka-python's."""
    is_by_certificate = options.get("security_protocol") == "SSL" and options.get("ssl_certfile")
    return bool(is_by_certificate) and job.gateway_clients_share_one_user


def lends_certificate(job: JobSettings, options: Mapping[str, Any]) -> bool:
    """Return True if clients' connections to brokers show the gateway's certificate.

    Where brokers know users by login, it stands for no user, and is shown for clients that have shown their own.
    """
    if _is_by_login(options):
        return bool(job.gateway_ssl_truststore_location)
    return clients_share_one_user(job, options)


async def check_clients_are_answered(view: ClusterView) -> None:
    """Connect to a broker as clients will, without the gateway's certificate. Raises GatewayStartError: no broker answers."""
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


DRAIN_TIMEOUT_S = 5.0
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_ANYWHERE = frozenset({"0.0.0.0", "::"})  # noqa: S104 - it is refused

_log = logging.getLogger(__name__)


def run_gateway(job: JobSettings, connection: Connection, open_groups: OpenGroups) -> None:
    """Serve until SIGINT or SIGTERM. Raises GatewayStartError: the cluster does not answer, or a port cannot be opened."""
    set_up_logs()
    login = connection.options
    access = BrokerAccess(login, lends_certificate=lends_certificate(job, login))
    options = _options(job, connection)
    if clients_share_one_user(job, login):
        _log.warning(ONE_USER_TOLD)
    # The buffer size is a class attribute of asyncio, so it must be set before the first connection.
    begin_small()
    try:
        brokers = [Address(*each) for each in connection.addresses()]
        view = ClusterView(
            brokers,
            job.gateway_metadata_interval_ms,
            access,
            job.gateway_metadata_lookup_interval_ms,
        )
        asyncio.run(_served(job, options, view, open_groups))
    except ClientError as error:
        raise GatewayStartError(str(error)) from error


def _options(job: JobSettings, connection: Connection) -> GatewayOptions:
    listen = listen_address("gateway.listen", job.gateway_listen)
    named = job.gateway_advertised_host
    host = advertised_host("gateway.advertised.host", named) if named else listen.host
    # Clients get this host in responses: no client can connect to "anywhere".
    if host in _ANYWHERE:
        raise GatewayStartError(
            f"gateway.listen = {job.gateway_listen} is not an address that clients can connect to: set "
            "gateway.advertised.host, or --advertise HOST"
        )
    tls = listener_context(job.gateway_ssl_keystore_location, job.gateway_ssl_truststore_location)
    check_protocol("gateway.listen", job.gateway_listen, is_encrypted=tls is not None)
    if tls is None:
        check_passwords_are_hidden(job, listen.host, connection.options)
    return GatewayOptions(
        listen=listen,
        advertised_host=host,
        max_idle_ms=job.gateway_connections_max_idle_ms,
        tls=tls,
        subject_claim=job.gateway_sasl_oauthbearer_sub_claim_name,
        limits=_limits(job),
        client_open_max_bytes=job.gateway_client_open_max_bytes,
        closed=closed_to_clients(job, connection),
    )


def _limits(job: JobSettings) -> ConnectionLimits:
    return ConnectionLimits(
        connections_within_limit(job.gateway_max_connections),
        job.gateway_max_connections_per_ip,
        job.gateway_login_timeout_ms,
        job.gateway_connection_failed_authentication_delay_ms,
    )


async def _served(
    job: JobSettings, options: GatewayOptions, view: ClusterView, open_groups: OpenGroups
) -> None:
    # The handlers are set before any wait, so that a signal during the start ends it.
    stop = _stop_on_signals()
    await view.look_again()
    if view.age_s() is None:
        raise GatewayStartError(
            f"no Kafka broker responds at {job.bootstrap_servers}: {view.trouble}"
        )
    # Clients would get no response if the brokers required the certificate that only the gateway has.
    await check_clients_are_answered(view)
    # Before the ports: the first client must find the way to the job.
    async with open_groups(view) as groups:
        gateway = Gateway(options, view, groups.part)
        health = ExitStack()
        await _open(gateway, health, _pages(gateway, view, groups), job)
        gc.freeze()  # permanent objects: a full collection, which stops all clients, takes less time
        _log.info("%s, in front of %s", gateway, job.bootstrap_servers)
        async with TaskGroup() as background:
            tasks = [background.create_task(view.keep_fresh())]
            tasks.append(background.create_task(gateway.keep_tidy()))
            if options.tls is not None:
                files = job.gateway_ssl_keystore_location, job.gateway_ssl_truststore_location
                renewal = CertificateRenewal(options.tls, *files)
                tasks.append(background.create_task(renewal.keep()))
            await stop.wait()
            _log.info("Stopping: no new requests from now on")
            await gateway.drain(DRAIN_TIMEOUT_S)
            # After the drain: connections need fresh brokers until their last response has left.
            for task in tasks:
                task.cancel()
        health.close()
        view.close()


def _stop_on_signals() -> asyncio.Event:
    stop = asyncio.Event()
    for number in _SIGNALS:
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    return stop


async def _open(gateway: Gateway, health: ExitStack, pages: Pages, job: JobSettings) -> None:
    try:
        await gateway.open()
    except OSError as error:
        raise GatewayStartError(f"gateway.listen = {job.gateway_listen}: {error}") from error
    if not job.gateway_health_listen:
        return
    listen = listen_address("gateway.health.listen", job.gateway_health_listen)
    try:
        health.enter_context(health_port(listen, pages))
    except OSError as error:
        raise GatewayStartError(
            f"gateway.health.listen = {job.gateway_health_listen}: {error}"
        ) from error


def _pages(gateway: Gateway, view: ClusterView, groups: GroupService) -> Pages:
    # A load balancer must stop sending clients as soon as the drain begins, so that check is first.
    checks = [gateway.drain_check, cluster_check(view), *groups.checks]

    return {
        "/live": partial(Page, HTTPStatus.OK, "live\n"),
        "/ready": lambda: ready_page(checks, gateway.nodes_without_port()),
        "/metrics": lambda: Page(
            HTTPStatus.OK,
            metrics_page(gateway.counters, gateway.gauges(), groups.figures()),
            "text/plain; version=0.0.4",
        ),
    }
