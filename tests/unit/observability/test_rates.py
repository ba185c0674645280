from __future__ import annotations

import pytest

from group_coordinator.driver.metrics.meters import Rates


def test_a_rate_is_over_the_window_of_now_and_the_one_before() -> None:
    rates = Rates()
    rates.add({"a": 30}, 60.0)
    assert rates.per_second("a", 60.0) == pytest.approx(1.0)
    assert rates.per_second("a", 75.0) == pytest.approx(30 / 45)
    rates.add({"a": 15}, 90.0)
    assert rates.per_second("a", 90.0) == pytest.approx(45 / 30)
    assert rates.per_second("a", 119.0) == pytest.approx(45 / 59)
    assert rates.per_second("a", 120.0) == pytest.approx(15 / 30)
    assert rates.per_second("b", 120.0) == 0


def test_after_a_pause_nothing_is_left() -> None:
    rates = Rates()
    rates.add({"a": 30}, 60.0)
    assert rates.per_second("a", 1_000.0) == 0
