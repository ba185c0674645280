from __future__ import annotations

from threading import Event, Thread

import pytest

from group_coordinator.driver.metrics.collector import repeat_quietly
from tests.support.until import until


def test_a_look_that_fails_is_told_and_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    full = OSError("no disk")
    ended, looks = Event(), [full, full, None, full, OSError("no table"), None]

    def look() -> None:
        failure = looks.pop(0)
        if not looks:
            ended.set()
        if failure is not None:
            raise failure

    repeat_quietly(look, 0.001, ended)

    told = ("no disk", "no disk", "no table")
    assert caplog.messages == [f"the metrics are not complete: {why}" for why in told]


def test_a_look_that_takes_long_is_made_less_often() -> None:
    """It ends at once all the same."""
    ended, looks = Event(), []

    def look() -> None:
        looks.append(Event().wait(0.05))

    thread = Thread(target=repeat_quietly, args=(look, 0.001, ended))
    thread.start()
    until(lambda: bool(looks), seconds=5, awaited="a look")
    thread.join(0.3)
    assert len(looks) == 1
    ended.set()
    thread.join(5)

    assert not thread.is_alive()
