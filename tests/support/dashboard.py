"""The dashboards of deploy/grafana: their queries, and those that fill their variables."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parents[2] / "deploy" / "grafana"
JOB, MIRRORS = "group-coordinator", "mirrored-clusters"
DASHBOARDS = (JOB, MIRRORS)
_LABEL_VALUES = re.compile(r"label_values\((?P<selector>.+), (?P<label>\w+)\)")
_CHOSEN = re.compile(r"\$(job|group)\b")
_WINDOW = re.compile(r"\$__(rate_interval|range)")


def _read(dashboard: str) -> Any:
    return json.loads((_FOLDER / f"{dashboard}.json").read_text(encoding="utf-8"))


def panels(dashboard: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = _read(dashboard)["panels"]
    return found


def of_panels(dashboard: str) -> Iterator[tuple[str, str]]:
    """By title and letter what each line of a panel asks."""
    for panel in panels(dashboard):
        for target in panel.get("targets", ()):
            yield f"{panel['title']} {target['refId']}", target["expr"]


def of_variables(dashboard: str) -> Iterator[tuple[str, str, str]]:
    """By name the selector whose series have the values, in which label."""
    for variable in _read(dashboard)["templating"]["list"]:
        if variable["type"] == "query":
            found = _LABEL_VALUES.fullmatch(variable["query"]["query"])
            assert found is not None
            yield variable["name"], found["selector"], found["label"]


def filled_in(query: str, window: str = "5m") -> str:
    """As Grafana sends it where nothing is chosen: all jobs and groups, and a time for its own times."""
    return _WINDOW.sub(window, _CHOSEN.sub(".*", query))
