"""The runbook of deploy/runbook: its sections, and the queries in them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

PAGE = Path(__file__).parents[2] / "deploy" / "runbook" / "README.md"
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)


def sections() -> list[tuple[str, str]]:
    """Alert and text of each section, in the order of the page."""
    _, *parts = re.split(r"^### ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return [(alert, text) for alert, _, text in (part.partition("\n") for part in parts)]


def queries(language: str) -> list[tuple[str, str]]:
    """Alert and text of each query in the language, sql or promql."""
    return [
        (alert, query.strip())
        for alert, text in sections()
        for found, query in _BLOCK.findall(text)
        if found == language
    ]


def first_queries() -> Mapping[str, str]:
    """The first SQL of each section."""
    return dict(reversed(queries("sql")))
