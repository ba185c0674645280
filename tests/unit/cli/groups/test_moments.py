from __future__ import annotations

import click
import pytest

from group_coordinator.cli.groups.options import duration_ms, timestamp_ms


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        ("PT1S", 1_000),
        ("PT0.5S", 500),
        ("PT1,25S", 1_250),
        ("PT90M", 5_400_000),
        ("P2D", 172_800_000),
        ("P1DT2H3M4.005S", 93_784_005),
        ("pt1h", 3_600_000),
        ("-PT1H", -3_600_000),
        ("PT-1H", -3_600_000),
        ("PT1H-30M", 1_800_000),
    ],
)
def test_durations_are_javas(text: str, milliseconds: int) -> None:
    assert duration_ms(text) == milliseconds


@pytest.mark.parametrize(
    "text", ["", "P", "PT", "P1DT", "1H", "P1H", "PT1D", "PT1H ", "P1Y", "PT1.5H"]
)
def test_no_duration(text: str) -> None:
    with pytest.raises(click.BadParameter, match="Text cannot be parsed to a Duration"):
        duration_ms(text)


@pytest.mark.parametrize(
    "text",
    [
        *("P99999999999999D", "-P99999999999999D", f"PT{'9' * 400}S", f"PT{'9' * 5_000}H"),
        f"P{'9' * 400}DT-{'9' * 400}H",
    ],
)
def test_longer_than_time_is(text: str) -> None:
    with pytest.raises(click.BadParameter, match="Text cannot be parsed to a Duration: overflow"):
        duration_ms(text)


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        ("2023-11-14T22:13:20.000", 1_700_000_000_000),
        ("2023-11-14T22:13:20.123Z", 1_700_000_000_123),
        ("2023-11-15T00:13:20.000+02:00", 1_700_000_000_000),
        ("2023-11-14T22:13:20", 1_700_000_000_000),
        ("1969-12-31T23:59:59.999", -1),
    ],
)
def test_times_are_utc_unless_they_say_so(text: str, milliseconds: int) -> None:
    assert timestamp_ms(text) == milliseconds


@pytest.mark.parametrize(
    "text", ["", "yesterday", "2023-11-14", "2023-11-14 22:13:20", "2023-13-01T00:00:00.000"]
)
def test_no_time(text: str) -> None:
    with pytest.raises(click.BadParameter):
        timestamp_ms(text)
