from __future__ import annotations

import re

import pytest

from group_coordinator.clients.errors import BrokerUnreachableError
from group_coordinator.driver.errors import StartUpError
from group_coordinator.driver.tasks import monitors
from group_coordinator.driver.tasks.monitors import Clock

SLACK_MS = 1_000


@pytest.mark.parametrize("ahead", [0, 1, SLACK_MS, -SLACK_MS])
def test_a_clock_within_the_slack_is_right(ahead: int) -> None:
    Clock(lambda: 0, SLACK_MS).check(ahead)


def test_a_clock_beyond_the_slack_is_refused() -> None:
    checked = Clock(lambda: 0, SLACK_MS)

    with pytest.raises(
        StartUpError,
        match=re.escape(
            "the clock of this machine is 60000 ms ahead of the brokers', more than timer.slack.ms = 1000"
        ),
    ):
        checked.check(60_000)
    with pytest.raises(StartUpError, match="1001 ms behind the brokers'"):
        checked.check(-1_001)


def test_the_brokers_are_asked_again_only_after_the_clock_was_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    offset_ms, answers = [0], [60_000, 0]
    monkeypatch.setattr(monitors, "_offset_ms", lambda: offset_ms[0])
    watched = Clock(lambda: answers.pop(0), SLACK_MS)

    offset_ms[0] = SLACK_MS
    assert not watched.is_wrong()
    assert len(answers) == 2

    offset_ms[0] = 60_000
    assert watched.is_wrong()
    assert not watched.is_wrong(), "the brokers' clocks were set too"
    assert not watched.is_wrong()
    assert answers == []


def test_a_clock_that_was_set_while_no_broker_answers_is_not_trusted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    offset_ms = [0]
    monkeypatch.setattr(monitors, "_offset_ms", lambda: offset_ms[0])

    def nobody() -> int:
        raise BrokerUnreachableError("no Kafka broker responds")

    watched = Clock(nobody, SLACK_MS)
    offset_ms[0] = -60_000

    assert watched.is_wrong()
    assert watched.is_wrong()
