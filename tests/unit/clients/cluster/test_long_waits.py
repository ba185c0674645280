from __future__ import annotations

import pytest

from group_coordinator.clients.cluster.connection import reported_long_wait
from tests.support.until import until


def test_a_long_wait_is_told_and_told_again(caplog: pytest.LogCaptureFixture) -> None:
    with reported_long_wait("an answer", first_s=0.01, again_s=0.02):
        until(lambda: len(caplog.messages) >= 2, seconds=10, awaited="two lines")

    assert caplog.messages[:2] == [
        "waiting for an answer, for 0.01 s so far; SIGTERM or Ctrl-C ends the wait",
        "waiting for an answer, for 0.03 s so far; SIGTERM or Ctrl-C ends the wait",
    ]


def test_a_short_wait_is_not_told(caplog: pytest.LogCaptureFixture) -> None:
    with reported_long_wait("an answer"):
        pass

    assert caplog.messages == []
