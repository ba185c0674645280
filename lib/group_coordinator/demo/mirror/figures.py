"""Figures of the mirror's demo, and their presentation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.text import Text

from group_coordinator.demo.look import Look
from group_coordinator.demo.panels import StackedBar, count_text, figures_table

_STATUSES = {
    "OK": ("green", "keep up"),
    "WARN": ("yellow", "lag grows"),
    "STALL": ("magenta", "commit the same"),
    "STOP": ("red", "commit no more"),
    "REWIND": ("cyan", "went back"),
    "AHEAD": ("blue", "are ahead"),
    "HELD": ("white", "are held back"),
}


@dataclass(frozen=True, slots=True)
class MirrorFigures:
    """Figures from the tables; None or empty: nothing yet."""

    statuses: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    """Groups by status."""
    record_count: int | None = None
    """Rows of coordinator_log."""
    behind_s: float | None = None
    """The age of the newest record in the log."""
    offset_count: int | None = None
    total_lag: int | None = None
    lost_count: int | None = None


def panels(figures: MirrorFigures) -> Sequence[RenderableType]:
    """Return the panels of the groups' status, and of the tables."""
    return _groups(figures), _tables(figures)


def line(figures: MirrorFigures) -> str | None:
    """Return the figures in a line; None: the tables are empty yet."""
    if figures.record_count is None:
        return None
    groups = ", ".join(f"{count} {status}" for status, count in figures.statuses.items())
    behind = "-" if figures.behind_s is None else f"{figures.behind_s:.0f}"
    return (
        f"groups: {groups or '-'}; lag {count_text(figures.total_lag)} records; {figures.record_count} records of "
        f"__consumer_offsets, the newest {behind} s old; {count_text(figures.offset_count)} offsets, "
        f"{count_text(figures.lost_count)} lost"
    )


LOOK = Look("A mirror of __consumer_offsets: consumer groups as tables", panels, line)


def _groups(figures: MirrorFigures) -> RenderableType:
    counts = [(name, figures.statuses.get(name, 0)) for name in _STATUSES]
    rows = [
        (Text(name, style=_STATUSES[name][0]), str(count), _STATUSES[name][1])
        for name, count in counts
    ]
    bar = StackedBar([(count, _STATUSES[name][0]) for name, count in counts])
    title = f"{sum(figures.statuses.values())} groups by status"
    return Panel(Group(figures_table(rows), "", bar), title=title, title_align="left")


def _tables(figures: MirrorFigures) -> RenderableType:
    age = "-" if figures.behind_s is None else f"{figures.behind_s:.0f} s"
    rows = [
        ("Records", count_text(figures.record_count), "of __consumer_offsets"),
        ("Newest", age, "old, in the log"),
        ("Offsets", count_text(figures.offset_count), "committed and kept"),
        ("Lag", count_text(figures.total_lag), "records, in all"),
        ("Lost", count_text(figures.lost_count), "offsets so far"),
    ]
    table = figures_table([(Text(name), value, meaning) for name, value, meaning in rows])
    return Panel(table, title="Tables", title_align="left")
