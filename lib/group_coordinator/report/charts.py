"""Style of all charts. Colours are variables of the page's style, so that a drawing fits light and dark mode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from group_coordinator.report.section import Legend, Scope

TICKS = alt.ExprRef("max(2, floor(width / 130))")
"""Number of labels of a time axis, by its width."""
COUNTS = "format(datum.value, '~s')"
"""Number format of an axis: 0, 5k, 1.5M."""
SERIES = tuple(f"var(--series-{number})" for number in range(1, 7))
"""Colours of lines, and so the maximum of lines."""

_FONT = "system-ui, sans-serif"
_CONFIG: dict[str, Any] = {
    "background": "transparent",
    "font": _FONT,
    "view": {"stroke": None},
    "axis": {
        "labelColor": "var(--faint)",
        "titleColor": "var(--faint)",
        "gridColor": "var(--line)",
        "domainColor": "var(--line)",
        "tickColor": "var(--line)",
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "labelLimit": 140,
    },
    "axisY": {"domain": False, "ticks": False, "tickCount": 4},
    "axisX": {"grid": False, "labelOverlap": "greedy", "labelSeparation": 12, "labelFlush": True},
    "text": {"fontSize": 12, "font": _FONT},
}

NAMED_ROW = alt.Step(40)
"""Height of a row with its name above: next to it, a name would take half of a phone's width."""

Chart = alt.Chart | alt.LayerChart | alt.FacetChart


def spec_of(chart: Chart, height: int | alt.Step) -> dict[str, Any]:
    sized = chart.properties(width="container", height=height)
    spec: dict[str, Any] = sized.to_dict()
    return spec | {"config": _CONFIG, "autosize": {"type": "fit-x", "contains": "padding"}}


def rows(values: Sequence[dict[str, Any]]) -> alt.InlineData:
    return alt.InlineData(values=list(values))


def key(place: int) -> str:
    """Key of a group in a chart, by its place: names of clients could be names that Vega treats specially, such as __proto__."""
    return f"group-{place}"


def named_rows(values: Sequence[dict[str, Any]]) -> alt.Chart:
    """Chart with a row for each value, in their order, for marks and for names_above."""
    # sort=None keeps the order of the rows.
    y = alt.Y("key:N", title=None, sort=None, axis=None)
    return alt.Chart(rows(values)).encode(y)


def names_above(base: alt.Chart) -> alt.Chart:
    texts = base.mark_text(align="left", baseline="middle", dy=-6, limit=300, fill="var(--text)")
    named: alt.Chart = texts.encode(text="name:N")
    return named


def tooltips(**titles: str) -> list[alt.Tooltip]:
    """Tooltips with the fields' values as they are, by title."""
    return [alt.Tooltip(f"{field}:N", title=title) for field, title in titles.items()]


def time_axis(scope: Scope, field: str = "at") -> alt.X:
    """Time axis from the begin to the end of the scope, in UTC."""
    domain = [scope.begin.isoformat(), scope.end.isoformat()]
    return alt.X(
        f"{field}:T",
        title=None,
        scale=alt.Scale(type="utc", domain=domain),
        axis=alt.Axis(format=_time_format(scope), tickCount=TICKS),
    )


def time_tooltip(field: str = "at", title: str = "UTC") -> alt.Tooltip:
    return alt.Tooltip(
        f"{field}:T", title=title, timeUnit="utcyearmonthdatehoursminutes", format="%Y-%m-%d %H:%M"
    )


def colours_of(names: Sequence[str]) -> tuple[alt.Color, list[Legend]]:
    """Colours by name, with places from 1. The page has the legend, as a legend in the page wraps on a phone."""
    # Places begin at 1, as SQL's dense_rank does.
    colours = list(SERIES[: len(names)])
    scale = alt.Scale(domain=[key(place) for place in range(1, len(names) + 1)], range=colours)
    legend = [Legend(name, colour) for name, colour in zip(names, colours, strict=True)]
    return alt.Color("key:N", scale=scale, legend=None), legend


def _time_format(scope: Scope) -> str:
    length_h = (scope.end - scope.begin).total_seconds() / 3_600
    return "%H:%M" if length_h <= 48 else "%b %d"  # noqa: PLR2004


def line_chart(
    scope: Scope, values: Sequence[dict[str, Any]], y: alt.Y, colour: alt.Color, shown: alt.Tooltip
) -> Chart:
    """Chart with a line for each name over time; the point nearest to the pointer shows its values."""
    # The nearest point is chosen, as a thin line is hard to hit with a pointer.
    nearest = alt.selection_point(nearest=True, on="pointerover", fields=["at", "key"], empty=False)
    base = alt.Chart(rows(values)).encode(time_axis(scope), y, colour)
    lines = base.mark_line(
        strokeWidth=2, strokeJoin="round", strokeCap="round", interpolate="monotone"
    )
    points = (
        base.mark_point(filled=True, size=60)
        .encode(
            opacity=alt.condition(nearest, alt.value(1), alt.value(0)),
            tooltip=[alt.Tooltip("name:N", title="group"), time_tooltip(), shown],
        )
        .add_params(nearest)
    )
    return alt.layer(lines, points)
