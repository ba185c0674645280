"""Options of commands: their order in the help, and their types: whole numbers, times and durations, parsed as Java does."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import reduce
from typing import Any, TypeVar

import click

from group_coordinator.core.kafka_order import java_number

Function = TypeVar("Function", bound=Callable[..., Any])
LAST_INT32 = 2**31 - 1
LAST_INT64 = 2**63 - 1


def with_options(function: Function, options: Sequence[Callable[[Function], Function]]) -> Function:
    """Add options that the help lists in this order: click lists decorators from the last to the first."""
    return reduce(lambda decorated, option: option(decorated), reversed(options), function)


def whole_number(text: str, most: int) -> int | None:
    """Parse a number from 0 to `most`; None: the text is none."""
    number = java_number(text)
    return None if number is None or not 0 <= number <= most else number


class NumberRange(click.IntRange):
    """Range of an option's number. Without it click accepts Python's notation, such as 1_0."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, str) and java_number(value) is None:
            self.fail(f"{value!r} is not a whole number.", param, ctx)
        return super().convert(value, param, ctx)


INT64 = NumberRange(-LAST_INT64 - 1, LAST_INT64)
"""Range of offsets, shifts and times in milliseconds."""
LONGEST_S = 366 * 86_400
"""Longest interval of repeated commands, in seconds."""

_UNITS_MS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
_DURATION = re.compile(rf"([0-9]+)({'|'.join(_UNITS_MS)})")


def time_of(text: str) -> datetime:
    """Parse a time of ISO 8601 to UTC, as all times in the tables are; without a zone it is UTC."""
    try:
        found = datetime.fromisoformat(text)
        # A time without a zone has the tables' zone.
        return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    except (OverflowError, ValueError) as error:
        raise click.BadParameter(
            f"{text!r} is not a time: give one such as 2024-01-02T03:04:05Z or 2024-01-02 03:04 (UTC)"
        ) from error


def as_of_option(function: Function) -> Function:
    """Add --as-of, with a time or None."""
    option = click.option(
        "--as-of",
        type=time_of,
        metavar="TIME",
        help="Query the tables as of this time: 2024-01-02T03:04:05Z, or in UTC 2024-01-02 03:04.",
    )
    return option(function)


def duration_ms_of(text: str) -> int:
    """Convert a number with its unit, such as 90m, to milliseconds: at least 1."""
    parts = _DURATION.fullmatch(text)
    if parts is None or not int(parts[1]):
        raise click.BadParameter(
            f"{text!r} is not a duration: give one such as 500ms, 30s, 90m, 12h, 7d or 2w"
        )
    return int(parts[1]) * _UNITS_MS[parts[2]]
