from __future__ import annotations

from group_coordinator.core.java_text import java_trimmed, utf16_length, utf16_order


def test_a_character_beyond_the_first_65536_counts_as_two() -> None:
    assert utf16_length("a\uffffb") == 3
    assert utf16_length("a\U00010000b") == 4


def test_texts_are_in_the_order_of_their_utf16_units() -> None:
    assert sorted(["\uffff", "\U00010000", "b", "a"], key=utf16_order) == [
        "a",
        "b",
        "\U00010000",
        "\uffff",
    ]


def test_half_a_character_is_a_text_too() -> None:
    assert utf16_length("\ud800") == 1
    assert sorted(["b", "\ud800"], key=utf16_order) == ["b", "\ud800"]


def test_control_characters_are_trimmed_and_other_spaces_stay() -> None:
    assert java_trimmed("\x00\t 5\u00a0 ") == "5\u00a0"
