from __future__ import annotations

from threading import Event

import pytest

from group_coordinator.clients.errors import BrokerUnreachableError, LoginRefusedError
from group_coordinator.driver import outages
from group_coordinator.driver.outages import outlast_outages


class Run:
    """Fails as told, then ends well."""

    def __init__(self, *failures: Exception) -> None:
        self._failures = list(failures)
        self.calls = 0

    def __call__(self) -> None:
        self.calls += 1
        if self._failures:
            raise self._failures.pop(0)


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outages, "_PAUSE_S", 0)


def test_it_runs_again_until_the_broker_answers() -> None:
    run = Run(BrokerUnreachableError("nobody"), BrokerUnreachableError("nobody"))

    outlast_outages(run, Event())

    assert run.calls == 3


def test_another_failure_ends_it() -> None:
    with pytest.raises(LoginRefusedError):
        outlast_outages(Run(LoginRefusedError("wrong password")), Event())


def test_a_stop_ends_the_waiting() -> None:
    stop = Event()

    def run() -> None:
        stop.set()
        raise BrokerUnreachableError("nobody")

    outlast_outages(run, stop)

    assert stop.is_set()
