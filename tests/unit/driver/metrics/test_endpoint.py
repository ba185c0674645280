from __future__ import annotations

import ssl
from base64 import b64encode
from dataclasses import replace
from http.client import HTTPConnection, HTTPSConnection
from pathlib import Path

import pytest

from group_coordinator import settings
from group_coordinator.driver.errors import StartUpError
from group_coordinator.driver.metrics.collector import metrics_endpoint
from group_coordinator.gateway import GatewayStartError
from group_coordinator.local.broker import LOOPBACK, free_ports
from group_coordinator.settings import JobSettings
from tests.support.certificates import self_signed


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


@pytest.fixture
def password_file(tmp_path: Path) -> Path:
    file = tmp_path / "password"
    file.write_text("prometheus:öffne:dich\n", encoding="utf-8")
    return file


def test_metrics_need_the_login_of_the_password_file_and_health_needs_none(
    password_file: Path,
) -> None:
    [port] = free_ports(1)
    job = replace(listening(f"{LOOPBACK}:{port}"), metrics_password_file=str(password_file))
    with metrics_endpoint(job):
        denied = "a user and a password are needed: metrics.password.file has them\n"
        assert get(port, "/metrics") == (401, denied)
        for wrong in ("prometheus:öffne", "prometheus:", "öffne:dich", ""):
            assert get(port, "/metrics", basic(wrong)) == (401, denied)
        for broken in (
            "Basic",
            "Basic ä",
            "Basic !",
            f"Bearer {basic('prometheus:öffne:dich')[6:]}",
        ):
            assert get(port, "/metrics", broken) == (401, denied)
        assert "group_coordinator_info" in get(port, "/metrics", basic("prometheus:öffne:dich"))[1]
        assert get(port, "/healthz") == (200, "alive\n")
        assert get(port, "/readyz") == (503, "the job starts\n")


def test_a_port_with_a_certificate_speaks_only_tls(password_file: Path, tmp_path: Path) -> None:
    [port] = free_ports(1)
    key_store = self_signed(tmp_path)
    job = replace(
        listening(f"{LOOPBACK}:{port}"),
        metrics_password_file=str(password_file),
        metrics_ssl_keystore_location=str(key_store),
    )
    trusting = ssl.create_default_context(cafile=key_store)
    with metrics_endpoint(job):
        login = basic("prometheus:öffne:dich")
        assert get(port, "/metrics", tls=trusting)[0] == 401
        assert "group_coordinator_info" in get(port, "/metrics", login, tls=trusting)[1]
        assert get(port, "/healthz", tls=trusting) == (200, "alive\n")
        with pytest.raises(OSError, match=r"reset|closed"):
            get(port, "/healthz")
        assert get(port, "/healthz", tls=trusting)[0] == 200


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (None, ": No such file or directory: "),
        (b"only-a-secret", " has another text: "),
        (b"user:", " has another text: "),
        (b":secret", " has another text: "),
        (b"", " has another text: "),
        (b"user:secret\nother:secret\n", " has another text: "),
        (b"user:secret\xff", " is not UTF-8: "),
    ],
)
def test_a_password_file_that_cannot_be_used_is_named_without_its_text(
    tmp_path: Path, content: bytes | None, complaint: str
) -> None:
    file = tmp_path / "password"
    if content is not None:
        file.write_bytes(content)
    job = replace(listening(f"{LOOPBACK}:1"), metrics_password_file=str(file))

    with pytest.raises(StartUpError) as raised, metrics_endpoint(job):
        pass

    remedy = "give a text file with one line, USER:PASSWORD"
    assert str(raised.value) == f"metrics.password.file = {file}{complaint}{remedy}"


def test_a_certificate_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    job = replace(
        listening(f"{LOOPBACK}:1"), metrics_ssl_keystore_location=str(tmp_path / "none.pem")
    )
    own = r"^metrics\.ssl\.keystore\.location = .*none\.pem: .*: give a PEM file with a private key"
    with pytest.raises(GatewayStartError, match=own), metrics_endpoint(job):
        pass


def basic(login: str) -> str:
    return f"Basic {b64encode(login.encode()).decode()}"


def get(
    port: int, path: str, authorization: str | None = None, tls: ssl.SSLContext | None = None
) -> tuple[int, str]:
    if tls is None:
        connection = HTTPConnection(LOOPBACK, port, timeout=5)
    else:
        connection = HTTPSConnection(LOOPBACK, port, timeout=5, context=tls)
    connection.request("GET", path, headers={"Authorization": authorization or "none"})
    response = connection.getresponse()
    found = response.status, response.read().decode()
    connection.close()
    return found
