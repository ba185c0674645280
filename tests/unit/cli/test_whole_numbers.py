from __future__ import annotations

import pytest

from group_coordinator.cli.option_types import LAST_INT32, LAST_INT64, whole_number


@pytest.mark.parametrize(
    ("text", "most", "number"),
    [
        ("0", LAST_INT32, 0),
        ("007", LAST_INT32, 7),
        ("2147483647", LAST_INT32, 2_147_483_647),
        ("2147483648", LAST_INT32, None),
        ("9223372036854775807", LAST_INT64, 9_223_372_036_854_775_807),
        ("9223372036854775808", LAST_INT64, None),
        ("1" * 10_000, LAST_INT64, None),
        ("", LAST_INT32, None),
        ("-1", LAST_INT32, None),
        ("1.5", LAST_INT32, None),
        ("+1", LAST_INT32, 1),
        ("-0", LAST_INT32, 0),
        ("\u0661\u0660", LAST_INT32, 10),
        ("1_0", LAST_INT32, None),
        (" 1", LAST_INT32, None),
        ("1\n", LAST_INT32, None),
        ("\U0001d7cf", LAST_INT32, None),
        ("0" * 5_000 + "7", LAST_INT32, 7),
    ],
)
def test_a_text_says_a_number_as_far_as_there_is_room(
    text: str, most: int, number: int | None
) -> None:
    assert whole_number(text, most) == number
