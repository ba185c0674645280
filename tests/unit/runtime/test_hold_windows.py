from __future__ import annotations

from group_coordinator.runtime.hold_windows import (
    HoldWindow,
    closed,
    dump,
    has_open,
    load,
    opened,
    retries_end_ms,
    timers_hold,
)


def test_timers_hold_within_a_window() -> None:
    windows = (HoldWindow(1_000, 2_000), HoldWindow(5_000, None))

    held = [
        at for at in (999, 1_000, 1_999, 2_000, 4_999, 5_000, 9_000) if timers_hold(windows, at)
    ]

    assert held == [1_000, 1_999, 5_000, 9_000]


def test_a_window_that_was_left_open_goes_on() -> None:
    windows = opened((), 1_000)
    assert has_open(windows)
    assert opened(windows, 7_000) == windows == (HoldWindow(1_000, None),)
    assert closed(windows, 8_000) == (HoldWindow(1_000, 8_000),)


def test_a_closed_window_stays_as_it_is() -> None:
    windows = closed((HoldWindow(1, 2), HoldWindow(3, None)), 4)
    assert windows == (HoldWindow(1, 2), HoldWindow(3, 4))
    assert not has_open(windows)


def test_what_was_put_off_is_tried_again_after_a_window() -> None:
    assert retries_end_ms(()) == 0
    assert retries_end_ms((HoldWindow(1_000, None),)) == 0
    assert retries_end_ms((HoldWindow(1, 2_000), HoldWindow(3_000, 4_000))) == 9_000


def test_old_windows_are_forgotten() -> None:
    windows = tuple(HoldWindow(at, at + 1) for at in range(20))
    assert opened(windows, 100) == (*windows[-10:], HoldWindow(100, None))


def test_windows_survive_the_file() -> None:
    windows = (HoldWindow(1, 2), HoldWindow(3, None))
    assert load(dump(windows)) == windows
