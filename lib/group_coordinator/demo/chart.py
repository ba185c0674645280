"""The chart of a run: groups, offsets and commits over time, with a mark for each loss of offsets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from group_coordinator.clients import sql_tables
from group_coordinator.demo.timeline import (
    EMPTY,
    OFFSETS_ONLY,
    WITH_MEMBERS,
    LogRow,
    Loss,
    Timeline,
    timeline,
)

_GROUP_COLOURS = {WITH_MEMBERS: "#4c9f70", EMPTY: "#e6b94e", OFFSETS_ONLY: "#8fa3b8"}
_LOSS_COLOURS = {"expired": "#c0392b", "deleted": "#6c3483"}
_LOSS_MARKERS = {"expired": "v", "deleted": "X"}
_LINE_COLOUR = "#2c5d8a"
# Levels of the labels of losses, so that labels close in time do not cover each other.
_LABEL_LEVELS = 4
_COMMIT_BIN_S = 2

_LOG = """
SELECT to_unixtime(event_time) + date_part('millisecond', event_time) % 1000 / 1000.0 AS at_s,
       group_id, record_type, reason, topic, partition, value IS NULL AS is_tombstone,
       record_type = 2 AND value NOT LIKE '%"members":[]%' AS has_members, member_id
FROM coordinator_log ORDER BY event_time, group_id, batch_id, seq
"""


def draw(tables_root: Path, file: Path) -> None:
    """Draw the log as a PNG file."""
    curves = timeline(read_log(str(tables_root)))
    picture(curves).savefig(file)


def read_log(tables_root: str) -> list[LogRow]:
    """Return the log in order of time; the first row is at 0."""
    rows = sql_tables.rows(tables_root, _LOG)
    first_s = rows[0]["at_s"] if rows else 0.0
    return [
        LogRow(**{**row, "at_s": row["at_s"] - first_s, "has_members": bool(row["has_members"])})
        for row in rows
    ]


def picture(curves: Timeline) -> Figure:
    """Return three charts above each other with a common time axis."""
    with mpl.rc_context({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False}):
        # Without pyplot, which would need a display and keep the figure.
        figure = Figure(figsize=(11, 8.5), dpi=130, layout="constrained")
        groups, offsets, commits = figure.subplots(3, 1, sharex=True, height_ratios=(3, 4, 2))
        figure.suptitle("The demo as coordinator_log tells it", fontsize=14, fontweight="bold")
        _draw_groups(groups, curves)
        _draw_offsets(offsets, curves)
        _draw_commits(commits, curves)
        commits.set_xlabel("seconds since the first event")
        commits.set_xlim(0, max(curves.times_s, default=1.0))
        return figure


def _draw_groups(axes: Axes, curves: Timeline) -> None:
    axes.stackplot(
        curves.times_s,
        list(curves.groups.values()),
        labels=list(curves.groups),
        colors=[_GROUP_COLOURS[kind] for kind in curves.groups],
        step="post",
    )
    axes.set_title("Groups", loc="left")
    axes.set_ylabel("groups")
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    _legend(axes)


def _legend(axes: Axes) -> None:
    # Next to the title, as inside the chart it would hide something.
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=3, frameon=False, borderaxespad=0)


def _draw_offsets(axes: Axes, curves: Timeline) -> None:
    axes.step(curves.times_s, curves.offsets, where="post", color=_LINE_COLOUR, linewidth=1.8)
    highest = max(curves.offsets, default=1)
    axes.set_ylim(0, highest * 1.75)
    axes.set_title("Committed offsets, and the groups that lost some", loc="left")
    axes.set_ylabel("offsets")
    for how in _LOSS_COLOURS:
        _draw_losses(axes, curves, how)
    for number, loss in enumerate(curves.losses):
        _label(axes, loss, highest * (1.2 + 0.14 * (number % _LABEL_LEVELS)))
    if curves.losses:
        _legend(axes)


def _draw_losses(axes: Axes, curves: Timeline, how: str) -> None:
    losses = [loss for loss in curves.losses if loss.how == how]
    if losses:
        axes.scatter(
            [loss.at_s for loss in losses],
            [_offsets_at(curves, loss.at_s) for loss in losses],
            marker=_LOSS_MARKERS[how],
            color=_LOSS_COLOURS[how],
            s=60,
            zorder=3,
            label=how,
        )


def _label(axes: Axes, loss: Loss, height: float) -> None:
    count = f" −{loss.offset_count}" if loss.offset_count else ""  # noqa: RUF001 - a minus sign
    axes.annotate(
        f"{loss.group_id}{count}",
        (loss.at_s, 0),
        (loss.at_s, height),
        color=_LOSS_COLOURS[loss.how],
        ha="right",
        fontsize=9,
    )
    axes.vlines(loss.at_s, 0, height, color=_LOSS_COLOURS[loss.how], linewidth=0.8, alpha=0.5)


def _offsets_at(curves: Timeline, at_s: float) -> int:
    return curves.offsets[curves.times_s.index(at_s)]


def _draw_commits(axes: Axes, curves: Timeline) -> None:
    bins = Counter(int(at_s) // _COMMIT_BIN_S for at_s in curves.commit_times_s)
    numbers: Sequence[int] = range(max(bins, default=0) + 1)
    axes.bar(
        [number * _COMMIT_BIN_S for number in numbers],
        [bins[number] / _COMMIT_BIN_S for number in numbers],
        width=_COMMIT_BIN_S * 0.9,
        align="edge",
        color=_LINE_COLOUR,
    )
    axes.set_title("Commits", loc="left")
    axes.set_ylabel("offsets per second")
    axes.yaxis.set_major_locator(MaxNLocator(nbins=4, integer=True))
