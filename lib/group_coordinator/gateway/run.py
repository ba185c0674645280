"""Life of a gateway, from its settings to the end of its shutdown."""

from __future__ import annotations

import asyncio
import gc
import logging
import signal
from asyncio import TaskGroup
from contextlib import ExitStack
from functools import partial
from http import HTTPStatus

from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.errors import ClientError
from group_coordinator.gateway.cluster.addresses import Address
from group_coordinator.gateway.cluster.broker_access import (
    BrokerAccess,
    listener_context,
)
from group_coordinator.gateway.cluster.cluster_view import ClusterView
from group_coordinator.gateway.cluster.host_and_port import (
    advertised_host,
    check_protocol,
    listen_address,
)
from group_coordinator.gateway.connections.admission import ConnectionLimits
from group_coordinator.gateway.connections.tls_buffers import (
    CertificateRenewal,
    begin_small,
    connections_within_limit,
)
from group_coordinator.gateway.counters import metrics_page
from group_coordinator.gateway.gateway import Gateway, GatewayOptions
from group_coordinator.gateway.group_part import GroupService, OpenGroups
from group_coordinator.gateway.health_port import Pages, cluster_check, health_port, ready_page
from group_coordinator.gateway.identity import (
    ONE_USER_TOLD,
    check_clients_are_answered,
    check_passwords_are_hidden,
    clients_share_one_user,
    closed_to_clients,
    lends_certificate,
)
from group_coordinator.gateway.start_errors import GatewayStartError
from group_coordinator.observability.http_server import Page
from group_coordinator.observability.logs import set_up_logs
from group_coordinator.settings import JobSettings

DRAIN_TIMEOUT_S = 5.0
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_ANYWHERE = frozenset({"0.0.0.0", "::"})  # noqa: S104 - it is refused

_log = logging.getLogger(__name__)


def run_gateway(job: JobSettings, connection: Connection, open_groups: OpenGroups) -> None:
    """Serve until SIGINT or SIGTERM.

    Raises:
        GatewayStartError: the cluster does not answer, or a port cannot be opened.
    """
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
                renewal = CertificateRenewal(options.tls, job.gateway_ssl_keystore_location)
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
            metrics_page(gateway.counters, gateway.gauges()),
            "text/plain; version=0.0.4",
        ),
    }
