"""Figures of the coordinator's demo, and their presentation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.text import Text

from group_coordinator.demo.look import Look
from group_coordinator.demo.measures import Latency
from group_coordinator.demo.panels import StackedBar, count_text, figures_table

_STYLES = {"Stable": "green", "Rebalancing": "yellow", "Empty": "blue", "Dead": "red"}
_MEANINGS = {
    "Stable": "at work",
    "Rebalancing": "sharing out work",
    "Empty": "no members",
    "Dead": "expired, deleted",
}
_REBALANCING = ("PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling")
"""Two states of classic groups, two of consumer groups."""


@dataclass(frozen=True, slots=True)
class CoordinatorFigures:
    """None or empty: not known yet."""

    group_states: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    """Groups by state, as the coordinator describes them."""
    member_count: int = 0
    consumer_group_count: int = 0
    """Groups whose members use the consumer protocol (KIP-848)."""
    requests_per_s: float | None = None
    latency: Latency | None = None
    batch_s: float | None = None
    offset_count: int | None = None
    expired_count: int | None = None
    deleted_count: int | None = None


def panels(figures: CoordinatorFigures) -> Sequence[RenderableType]:
    """Return the panels of the groups and of the coordinator's speed."""
    return _groups(figures), _coordinator(figures)


def line(figures: CoordinatorFigures) -> str | None:
    """Return the figures in a line; None: nothing is known yet."""
    if not figures.group_states:
        return None
    groups = ", ".join(
        f"{count} {state}" for state, count in _grouped(figures.group_states).items()
    )
    parts = [
        f"{groups} | {figures.member_count} members | {figures.consumer_group_count} groups by KIP-848"
    ]
    if figures.requests_per_s is not None:
        parts.append(f"{figures.requests_per_s:.0f} events/s")
    if figures.latency is not None:
        median, p99 = figures.latency
        parts.append(f"answers in {median:.1f} s (99 %: {p99:.1f} s)")
    if figures.batch_s is not None:
        parts.append(f"batch {figures.batch_s:.1f} s")
    if figures.offset_count is not None:
        parts.append(
            f"{figures.offset_count} offsets, {figures.expired_count or 0} expired, "
            f"{figures.deleted_count or 0} deleted"
        )
    return "; ".join(parts)


LOOK = Look("Kafka's group coordinator as a Spark job", panels, line)


def _groups(figures: CoordinatorFigures) -> RenderableType:
    counts = _grouped(figures.group_states)
    rows = [
        (Text(name, style=_STYLES[name]), str(count), _MEANINGS[name])
        for name, count in counts.items()
    ]
    rows.append((Text("Members"), str(figures.member_count), "of all groups"))
    bar = StackedBar([(count, _STYLES[name]) for name, count in counts.items()])
    title = f"{sum(counts.values())} groups, {figures.consumer_group_count} of them by KIP-848"
    return Panel(Group(figures_table(rows), "", bar), title=title, title_align="left")


def _grouped(states: Mapping[str, int]) -> dict[str, int]:
    """Return the states that the screen distinguishes; the states of a rebalance are combined."""
    rebalancing = sum(states.get(state, 0) for state in _REBALANCING)
    return {
        "Stable": states.get("Stable", 0),
        "Rebalancing": rebalancing,
        "Empty": states.get("Empty", 0),
        "Dead": states.get("Dead", 0),
    }


def _coordinator(figures: CoordinatorFigures) -> RenderableType:
    latency = figures.latency
    rows = [
        ("Events", _number(figures.requests_per_s, "/s"), "sent to the job"),
        ("Answers", _number(latency and latency.median_s, " s"), "half come faster"),
        ("", _number(latency and latency.p99_s, " s"), "99 % come faster"),
        ("Batch", _number(figures.batch_s, " s"), "one round of the job"),
        ("Offsets", count_text(figures.offset_count), "committed and kept"),
        ("Expired", count_text(figures.expired_count), "grew too old"),
        ("Deleted", count_text(figures.deleted_count), "by an administrator"),
    ]
    table = figures_table([(Text(name), value, meaning) for name, value, meaning in rows])
    return Panel(table, title="Coordinator", title_align="left")


def _number(value: float | None, unit: str) -> str:
    if value is None:
        return "-"
    return f"{value:.0f}{unit}" if unit == "/s" else f"{value:.1f}{unit}"
