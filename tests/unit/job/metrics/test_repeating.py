from __future__ import annotations

from threading import Event, Thread

import pytest

from group_coordinator.job.metrics.repeating import repeat_quietly
from tests.support.until import until


def test_a_look_that_fails_is_told_and_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    ended, looks = Event(), iter([OSError("no disk"), None, None])
    seen: list[BaseException | None] = []

    def look() -> None:
        seen.append(next(looks))
        if seen[-1] is not None:
            raise seen[-1]
        if len(seen) == 3:
            ended.set()

    repeat_quietly(look, 0.001, ended)

    assert len(seen) == 3
    assert caplog.messages == ["the metrics are not complete: no disk"]


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
