"""The rules of deploy/prometheus, and the metrics that an expression reads."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import promql_parser
import yaml

from tests.support.dashboard import filled_in

PROMETHEUS = Path(__file__).parents[2] / "deploy" / "prometheus"


def rules() -> list[dict[str, Any]]:
    """Alerts and recorded series."""
    text = (PROMETHEUS / "group-coordinator.rules.yaml").read_text(encoding="utf-8")
    return [rule for group in yaml.safe_load(text)["groups"] for rule in group["rules"]]


def alerts() -> list[dict[str, Any]]:
    """Rules that fire, in the order of the file."""
    return [rule for rule in rules() if "alert" in rule]


def names_in(expression: str) -> set[str]:
    """The metrics that an expression reads, also one of the dashboard."""
    return set(_names(promql_parser.parse(filled_in(expression))))


def _names(parsed: Any) -> Iterator[str]:
    if isinstance(parsed, promql_parser.VectorSelector):
        assert parsed.name is not None
        yield parsed.name
    for part in ("expr", "lhs", "rhs", "vector_selector"):
        if getattr(parsed, part, None) is not None:
            yield from _names(getattr(parsed, part))
    for argument in getattr(parsed, "args", ()):
        yield from _names(argument)
