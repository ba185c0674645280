"""Parses whole numbers in options and files as Java does, within the ranges of Kafka's types."""

from __future__ import annotations

from typing import Any

import click

from group_coordinator.core.java_text import java_number

LAST_INT32 = 2**31 - 1
LAST_INT64 = 2**63 - 1


def whole_number(text: str, most: int) -> int | None:
    """The number from 0 to `most` that the text says; None: it says none."""
    number = java_number(text)
    return None if number is None or not 0 <= number <= most else number


class NumberRange(click.IntRange):
    """The range of an option's number. Without it click accepts Python's notation, such as 1_0."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Parse the number.

        Raises:
            click.BadParameter: the text is not a whole number, or is out of range.
        """
        if isinstance(value, str) and java_number(value) is None:
            self.fail(f"{value!r} is not a whole number.", param, ctx)
        return super().convert(value, param, ctx)


INT64 = NumberRange(-LAST_INT64 - 1, LAST_INT64)
"""The range of offsets, shifts and times in milliseconds."""
