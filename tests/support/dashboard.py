"""The dashboard of deploy/grafana: its queries, and those that fill its variables."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DASHBOARD = Path(__file__).parents[2] / "deploy" / "grafana" / "group-coordinator.json"
_LABEL_VALUES = re.compile(r"label_values\((?P<selector>.+), (?P<label>\w+)\)")
_CHOSEN = re.compile(r"\$(job|group)\b")
_WINDOW = re.compile(r"\$__(rate_interval|range)")


def panels() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]
    return found


def of_panels() -> Iterator[tuple[str, str]]:
    """By title and letter what each line of a panel asks."""
    for panel in panels():
        for target in panel.get("targets", ()):
            yield f"{panel['title']} {target['refId']}", target["expr"]


def of_variables() -> Iterator[tuple[str, str, str]]:
    """By name the selector whose series have the values, in which label."""
    for variable in json.loads(DASHBOARD.read_text(encoding="utf-8"))["templating"]["list"]:
        if variable["type"] == "query":
            found = _LABEL_VALUES.fullmatch(variable["query"]["query"])
            assert found is not None
            yield variable["name"], found["selector"], found["label"]


def filled_in(query: str, window: str = "5m") -> str:
    """As Grafana sends it where nothing is chosen: all jobs and groups, and a time for its own times."""
    return _WINDOW.sub(window, _CHOSEN.sub(".*", query))
