"""Figures of the gateway's demo, and their presentation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import RenderableType
from rich.panel import Panel
from rich.text import Text

from group_coordinator.demo.gateway.counted import Counted
from group_coordinator.demo.look import Look
from group_coordinator.demo.panels import count_text, figures_table


@dataclass(frozen=True, slots=True)
class GatewayFigures:
    """Figures from the gateway and the tables; None: not known yet."""

    counted: Counted | None = None
    """Counters of the gateway."""
    batch_s: float | None = None
    offset_count: int | None = None
    expired_count: int | None = None
    deleted_count: int | None = None


def panels(figures: GatewayFigures) -> Sequence[RenderableType]:
    """Return the panels of the gateway's traffic, and of the job."""
    return _gateway(figures.counted), _job(figures)


def line(figures: GatewayFigures) -> str | None:
    """Return the figures in a line; None: the gateway has counted nothing yet."""
    counted = figures.counted
    if counted is None:
        return None
    return (
        f"{counted.connections} connections, {counted.requests} requests; the job answered {counted.answers}, "
        f"half of them within {_bound(counted.half_within_s)}; "
        f"{count_text(figures.offset_count)} offsets, {count_text(figures.expired_count)} expired, "
        f"{count_text(figures.deleted_count)} deleted"
    )


LOOK = Look("Ordinary Kafka clients, coordinated by a Spark job", panels, line)


def _gateway(counted: Counted | None) -> RenderableType:
    rows = [
        ("Clients", count_text(counted and counted.connections), "connections"),
        ("Requests", count_text(counted and counted.requests), "of all kinds"),
        ("Job", count_text(counted and counted.answers), "answered by the job"),
        ("Half", _bound(counted and counted.half_within_s), "at most, to answer"),
        ("95 %", _bound(counted and counted.most_within_s), "at most, to answer"),
        ("Waiting", count_text(counted and counted.parked), "joins and syncs"),
    ]
    table = figures_table([(Text(name), value, meaning) for name, value, meaning in rows])
    return Panel(table, title="Gateway", title_align="left")


def _job(figures: GatewayFigures) -> RenderableType:
    batch = "-" if figures.batch_s is None else f"{figures.batch_s:.1f} s"
    rows = [
        ("Batch", batch, "one round of the job"),
        ("Offsets", count_text(figures.offset_count), "committed and kept"),
        ("Expired", count_text(figures.expired_count), "grew too old"),
        ("Deleted", count_text(figures.deleted_count), "by an administrator"),
    ]
    table = figures_table([(Text(name), value, meaning) for name, value, meaning in rows])
    return Panel(table, title="Job", title_align="left")


def _bound(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds:g} s"
