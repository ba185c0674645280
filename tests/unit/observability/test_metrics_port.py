from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from http.client import HTTPConnection

import pytest
from prometheus_client import CollectorRegistry, Gauge, generate_latest

from group_coordinator.observability.http_server import metrics_port

LOOPBACK = "127.0.0.1"


class Job:
    trouble: str | None = None


@pytest.fixture
def job() -> Job:
    return Job()


@pytest.fixture
def port(job: Job) -> Iterator[int]:
    registry = CollectorRegistry()
    Gauge("answers", "How many", registry=registry).set(42)
    with metrics_port(
        (LOOPBACK, 0), partial(generate_latest, registry), lambda: job.trouble
    ) as number:
        yield number


def asked(port: int, path: str, **headers: str) -> tuple[int, str]:
    connection = HTTPConnection(LOOPBACK, port, timeout=5)
    connection.request("GET", path, headers=headers)
    response = connection.getresponse()
    found = response.status, response.read().decode()
    connection.close()
    return found


def test_prometheus_reads_the_registry(port: int) -> None:
    status, page = asked(port, "/metrics")

    assert status == 200
    assert "answers 42.0" in page.splitlines()


def test_a_scheduler_is_told_of_life_and_of_trouble(port: int, job: Job) -> None:
    assert asked(port, "/healthz") == (200, "alive\n")
    assert asked(port, "/readyz") == (200, "ready\n")
    job.trouble = "the last batch ended 99 s ago"
    assert asked(port, "/readyz") == (503, "the last batch ended 99 s ago\n")
    assert asked(port, "/healthz") == (200, "alive\n")


def test_other_pages_name_those_that_there_are(port: int) -> None:
    assert asked(port, "/") == (404, "/metrics /healthz /readyz\n")


@pytest.mark.parametrize("path", ["/metrics", "/healthz", "/readyz", "/"])
def test_a_page_from_elsewhere_cannot_read_it_by_a_name_of_its_own(port: int, path: str) -> None:
    assert asked(port, path, Host="evil.example") == (421, "this server has another host name\n")
    assert asked(port, path, Host=f"localhost:{port}") == asked(port, path)


def test_a_port_that_is_taken_is_an_error(port: int) -> None:
    with (
        pytest.raises(OSError, match="in use"),
        metrics_port((LOOPBACK, port), bytes, lambda: None),
    ):
        pass
