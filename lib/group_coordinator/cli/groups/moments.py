"""Moments and durations as kafka-consumer-groups takes them: Java's forms, in milliseconds."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import click

_DURATION = re.compile(
    r"(?P<sign>[-+]?)P(?:(?P<days>[-+]?\d+)D)?"
    r"(?:T(?=[-+\d])(?:(?P<hours>[-+]?\d+)H)?(?:(?P<minutes>[-+]?\d+)M)?(?:(?P<seconds>[-+]?\d+(?:[.,]\d{0,9})?)S)?)?",
    re.IGNORECASE | re.ASCII,
)
_UNITS_MS = {"days": 86_400_000, "hours": 3_600_000, "minutes": 60_000, "seconds": 1_000}
_LONGEST_MS = 2**62
"""146 million years: so long before or behind today there is still a time that Kafka's protocol can say."""


def duration_ms(text: str) -> int:
    """A duration of ISO 8601 (PnDTnHnMnS) in milliseconds; it may be negative.

    Raises:
        click.BadParameter: it is none.
    """
    found = _DURATION.fullmatch(text)
    parts = {name: found[name] for name in _UNITS_MS} if found else {}
    if found is None or not any(parts.values()):
        raise click.BadParameter("Text cannot be parsed to a Duration")
    total = sum(
        float(part.replace(",", ".")) * _UNITS_MS[name] for name, part in parts.items() if part
    )
    if not abs(total) <= _LONGEST_MS:  # infinite numbers, and what is left of two of them
        raise click.BadParameter("Text cannot be parsed to a Duration: overflow")
    return round(-total if found["sign"] == "-" else total)


def timestamp_ms(text: str) -> int:
    """A date and time of ISO 8601, with a T between them, in milliseconds since 1970; without a zone it is UTC.

    Raises:
        click.BadParameter: it is none.
    """
    if "T" not in text:
        raise click.BadParameter(
            "Error parsing timestamp. It does not contain a 'T' according to ISO8601 format"
        )
    try:
        found = datetime.fromisoformat(text)
    except ValueError as error:
        raise click.BadParameter(f'Unparseable date: "{text}"') from error
    moment = found if found.tzinfo else found.replace(tzinfo=UTC)
    return (moment - datetime.fromtimestamp(0, UTC)) // timedelta(milliseconds=1)
