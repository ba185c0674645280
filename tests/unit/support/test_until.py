from __future__ import annotations

import time

import pytest

from tests.support.until import until


def test_what_was_found_is_returned() -> None:
    answers = iter([None, "", "found"])

    assert until(lambda: next(answers), seconds=10, awaited="nothing", poll_s=0) == "found"


def test_what_is_there_is_not_waited_for() -> None:
    pauses: list[float] = []

    until(lambda: True, seconds=10, awaited="nothing", pause=pauses.append)

    assert pauses == []


def test_a_wait_in_vain_says_what_for() -> None:
    with pytest.raises(AssertionError, match=r"^waited 0\.02 s for an answer$"):
        until(lambda: False, seconds=0.02, awaited="an answer")


def test_the_message_may_be_made_when_the_wait_is_over() -> None:
    log: list[str] = []

    with pytest.raises(AssertionError, match="for an answer; the log: asked"):
        until(
            lambda: log.append("asked"),
            seconds=0.02,
            awaited=lambda: f"an answer; the log: {log[0]}",
            poll_s=0.01,
        )


def test_the_last_pause_ends_with_the_wait() -> None:
    pauses: list[float] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        time.sleep(seconds)

    with pytest.raises(AssertionError):
        until(lambda: False, seconds=0.03, awaited="nothing", pause=pause, poll_s=30)

    assert 0 < pauses[0] <= 0.03
