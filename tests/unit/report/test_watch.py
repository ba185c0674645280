from __future__ import annotations

from collections.abc import Iterator
from http.client import HTTPConnection

import pytest

from group_coordinator.report.watch import Current, Texts, served

LOOPBACK = "127.0.0.1"


@pytest.fixture
def current() -> Current:
    versions = iter(range(1, 100))
    return Current(lambda: Texts(f"<p>page {next(versions)}", "<p>news"))


@pytest.fixture
def port(current: Current) -> Iterator[int]:
    with served(current, LOOPBACK, 0) as address:
        assert address.startswith("http://127.0.0.1:")
        yield int(address.rstrip("/").rpartition(":")[2])


def get(port: int, path: str, host: str = LOOPBACK, **headers: str) -> tuple[int, str, str]:
    connection = HTTPConnection(host, port, timeout=5)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, answer.headers["Content-Type"], text


def test_the_page_and_its_news(port: int) -> None:
    html = "text/html; charset=utf-8"

    assert get(port, "/") == (200, html, "<p>page 1")
    assert get(port, "/?from=here") == (200, html, "<p>page 1")
    assert get(port, "/content") == (200, html, "<p>news")
    assert get(port, "/etc/passwd")[0] == 404


def test_it_listens_at_an_ipv6_address(current: Current) -> None:
    with served(current, "::1", 0) as address:
        assert address.startswith("http://[::1]:")
        assert get(int(address.rstrip("/").rpartition(":")[2]), "/", "::1")[2] == "<p>page 1"


def test_what_was_made_anew_is_served_next(current: Current, port: int) -> None:
    current.renew()

    assert get(port, "/")[2] == "<p>page 2"


def test_tables_that_are_away_are_told_until_they_are_back(current: Current, port: int) -> None:
    current.trouble = "there are no tables"
    assert get(port, "/content") == (503, "text/plain; charset=utf-8", "there are no tables")

    current.renew()
    assert get(port, "/content")[0] == 200


def test_a_page_from_elsewhere_cannot_read_it_by_a_name_of_its_own(port: int) -> None:
    assert get(port, "/", Host="evil.example")[0] == 421
    assert get(port, "/", Host=f"localhost:{port}")[0] == 200


def test_nobody_can_reach_it_afterwards(current: Current) -> None:
    with served(current, LOOPBACK, 0) as address:
        port = int(address.rstrip("/").rpartition(":")[2])

    with pytest.raises(ConnectionRefusedError):
        get(port, "/")
