from __future__ import annotations

from dataclasses import replace
from http.client import HTTPConnection

import pytest

from group_coordinator import settings
from group_coordinator.driver.errors import StartUpError
from group_coordinator.driver.metrics.collector import metrics_endpoint
from group_coordinator.gateway.start_errors import GatewayStartError
from group_coordinator.local.broker import LOOPBACK, free_ports
from group_coordinator.settings import JobSettings


def listening(where: str) -> JobSettings:
    return replace(settings.load().job, metrics_listen=where)


def test_nobody_listens_unless_told_to() -> None:
    with metrics_endpoint(settings.load().job) as endpoint:
        assert endpoint is None


def test_a_job_that_starts_is_alive_and_not_ready() -> None:
    [port] = free_ports(1)
    with metrics_endpoint(listening(f"{LOOPBACK}:{port}")) as endpoint:
        assert endpoint is not None
        assert get(port, "/healthz") == (200, "alive\n")
        assert get(port, "/readyz") == (503, "the job starts\n")
        assert 'group_coordinator_info{cluster_id="default"' in get(port, "/metrics")[1]
        endpoint.watch = lambda: None
        assert get(port, "/readyz") == (200, "ready\n")


def test_a_port_that_is_taken_is_refused() -> None:
    [port] = free_ports(1)
    job = listening(f"{LOOPBACK}:{port}")
    with (
        metrics_endpoint(job),
        pytest.raises(StartUpError, match=f"^metrics.listen = {LOOPBACK}:{port}: .*in use"),
        metrics_endpoint(job),
    ):
        pass


def test_what_is_no_address_is_refused() -> None:
    with pytest.raises(GatewayStartError, match=r"^metrics.listen = 9404: "):  # noqa: SIM117
        with metrics_endpoint(listening("9404")):
            pass


def get(port: int, path: str) -> tuple[int, str]:
    connection = HTTPConnection(LOOPBACK, port, timeout=5)
    connection.request("GET", path)
    response = connection.getresponse()
    found = response.status, response.read().decode()
    connection.close()
    return found
