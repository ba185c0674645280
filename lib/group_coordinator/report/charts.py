"""The look of all charts. Colours are variables of the page's style, so that one drawing is right in light and in dark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from group_coordinator.report.scope import Scope
from group_coordinator.report.section import Legend

TICKS = alt.ExprRef("max(2, floor(width / 130))")
"""As many labels of a time axis as there is room for."""
COUNTS = "format(datum.value, '~s')"
"""How an axis says numbers: 0, 5k, 1.5M."""
SERIES = tuple(f"var(--series-{number})" for number in range(1, 7))
"""A chart has no more lines than these colours."""

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
"""The height of a row that has its name above it: beside it, a name would take half of a phone."""

Chart = alt.Chart | alt.LayerChart | alt.FacetChart


def spec_of(chart: Chart, height: int | alt.Step) -> dict[str, Any]:
    """Vega-Lite, as wide as its place on the page."""
    sized = chart.properties(width="container", height=height)
    spec: dict[str, Any] = sized.to_dict()
    return spec | {"config": _CONFIG, "autosize": {"type": "fit-x", "contains": "padding"}}


def rows(values: Sequence[dict[str, Any]]) -> alt.InlineData:
    """Data of a chart."""
    return alt.InlineData(values=list(values))


def key(place: int) -> str:
    """What a chart calls a group by its place: no name from outside is one that Vega has plans of its own for, as __proto__."""
    return f"group-{place}"


def named_rows(values: Sequence[dict[str, Any]]) -> alt.Chart:
    """A row a value, in their order, for marks and for names_above."""
    y = alt.Y("key:N", title=None, sort=None, axis=None)
    return alt.Chart(rows(values)).encode(y)


def names_above(base: alt.Chart) -> alt.Chart:
    """The names of the rows."""
    texts = base.mark_text(align="left", baseline="middle", dy=-6, limit=300, fill="var(--text)")
    named: alt.Chart = texts.encode(text="name:N")
    return named


def tooltips(**titles: str) -> list[alt.Tooltip]:
    """Fields as they are, by their titles."""
    return [alt.Tooltip(f"{field}:N", title=title) for field, title in titles.items()]


def time_axis(scope: Scope, field: str = "at") -> alt.X:
    """From the begin of the stretch to its end, in UTC."""
    domain = [scope.begin.isoformat(), scope.end.isoformat()]
    return alt.X(
        f"{field}:T",
        title=None,
        scale=alt.Scale(type="utc", domain=domain),
        axis=alt.Axis(format=_time_format(scope), tickCount=TICKS),
    )


def time_tooltip(field: str = "at", title: str = "UTC") -> alt.Tooltip:
    """To the minute."""
    return alt.Tooltip(
        f"{field}:T", title=title, timeUnit="utcyearmonthdatehoursminutes", format="%Y-%m-%d %H:%M"
    )


def colours_of(names: Sequence[str]) -> tuple[alt.Color, list[Legend]]:
    """A colour a name, by places from 1, without a legend in the drawing: the page has one, which wraps on a phone."""
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
    """A line a name over time; the point that is nearest to the pointer says its numbers."""
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
