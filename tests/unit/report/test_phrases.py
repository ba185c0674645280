from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from group_coordinator.report.phrases import (
    count,
    duration,
    name_text,
    of_things,
    rate,
    short_count,
    short_duration,
    time_left,
    time_text,
)

NOON = datetime(2025, 6, 2, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (None, "-"),
        (0, "0"),
        (9_999, "9,999"),
        (10_000, "10k"),
        (12_345, "12.3k"),
        (999_499, "999k"),
        (999_500, "1M"),
        (-4_567_000, "-4.57M"),
        (999_500_000, "1G"),
        (999_500_000_000, "1T"),
        (1_234_500_000_000_000, "1.23P"),
        (2**63 - 1, "9.22E"),
    ],
)
def test_numbers_of_at_most_four_digits(number: int | None, text: str) -> None:
    assert short_count(number) == text


@pytest.mark.parametrize(
    ("seconds", "text", "short"),
    [
        (None, "-", "-"),
        (0, "0 s", "0 s"),
        (0.4, "0 s", "0 s"),
        (59.6, "1 min", "1 min"),
        (61, "1 min 1 s", "1 min"),
        (7_500, "2 h 5 min", "2 h"),
        (7_205, "2 h", "2 h"),
        (200_000, "2 d 7 h", "2 d"),
    ],
)
def test_durations(seconds: float | None, text: str, short: str) -> None:
    assert (duration(seconds), short_duration(seconds)) == (text, short)


def test_the_rest() -> None:
    assert (count(1_234_567), count(None)) == ("1,234,567", "-")
    assert (of_things(1, "offset"), of_things(1_000, "offset")) == ("1 offset", "1,000 offsets")
    assert (rate(0.0123), rate(99.94), rate(12_345.6)) == ("0.0123", "99.9", "12,346")
    assert (time_text(NOON), time_text(None)) == ("2025-06-02 12:00", "-")
    assert time_text(NOON.replace(year=1)) == "0001-06-02 12:00"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("orders-v2 of EU / Zürich", "orders-v2 of EU / Zürich"),
        (r"User:CORP\anna", r"User:CORP\anna"),
        ("a\nb", r"a\x0ab"),
        (r"a\x0ab", r"a\\x0ab"),
        (r"a\\b", r"a\\\\b"),
        ("a  b", r"a \x20b"),
        (" a ", r"\x20a\x20"),
        ("\x00\u202ea\u200bb\u00a0\U000e0001", r"\x00\u202ea\u200bb\xa0\U000e0001"),
        ("Zu\u0308rich", r"Zu\u0308rich"),
        ("a\ufe0fb\u034fc\u3164\u2800\U000e0100", r"a\ufe0fb\u034fc\u3164\u2800\U000e0100"),
        ("", ""),
    ],
)
def test_names_that_differ_look_different(name: str, text: str) -> None:
    assert name_text(name) == text


@pytest.mark.parametrize(("left_s", "text"), [(-5, "due"), (0, "due"), (90, "in 1 min 30 s")])
def test_time_left(left_s: int, text: str) -> None:
    assert time_left(NOON + timedelta(seconds=left_s), NOON) == text
