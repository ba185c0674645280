from __future__ import annotations

import pytest

from group_coordinator.core.kafka_order import (
    java_duration_ns,
    java_trimmed,
    utf16_length,
    utf16_order,
)


def test_a_character_beyond_the_first_65536_counts_as_two() -> None:
    assert utf16_length("a\uffffb") == 3
    assert utf16_length("a\U00010000b") == 4


def test_texts_are_in_the_order_of_their_utf16_units() -> None:
    expected = ["a", "b", "\U00010000", "\uffff"]
    assert sorted(["\uffff", "\U00010000", "b", "a"], key=utf16_order) == expected


def test_half_a_character_is_a_text_too() -> None:
    assert utf16_length("\ud800") == 1
    assert sorted(["b", "\ud800"], key=utf16_order) == ["b", "\ud800"]


def test_control_characters_are_trimmed_and_other_spaces_stay() -> None:
    assert java_trimmed("\x00\t 5\u00a0 ") == "5\u00a0"


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("PT0S", 0),
        ("-PT0S", 0),
        ("P1DT1H1M1S", 90_061 * 10**9),
        ("pt1h2m", 3_720 * 10**9),
        ("P-1DT25H", 3_600 * 10**9),
        ("-PT-1H", 3_600 * 10**9),
        ("+PT1H", 3_600 * 10**9),
        ("P+1D", 86_400 * 10**9),
        ("PT1,5S", 1_500_000_000),
        ("PT1.S", 10**9),
        ("PT0.000000001S", 1),
        ("PT-0.5S", -500_000_000),
        ("-PT1.5S", -1_500_000_000),
        ("PT9223372036854775807S", (2**63 - 1) * 10**9),
        (f"PT{'0' * 5_000}5S", 5 * 10**9),
    ],
)
def test_a_duration(text: str, nanoseconds: int) -> None:
    assert java_duration_ns(text) == nanoseconds


@pytest.mark.parametrize(
    "text",
    [
        *("", "x", "P", "PT", "P1DT", "1D", "P1Y", "P1W", " PT1H", "PT1H ", "PT1H\n", "PT1H2D"),
        *("PT.5S", "PT0.1234567890S", "PT1.5M", "P\u0661D", "P--1D", "PT1H1H"),
        *("PT9223372036854775808S", "P106751991167301D", f"PT{'9' * 5_000}S"),
        "P106751991167300DT9223372036854775807S",
    ],
)
def test_no_duration(text: str) -> None:
    assert java_duration_ns(text) is None
