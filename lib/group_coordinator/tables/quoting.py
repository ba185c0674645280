"""Literals in the SQL of DataFusion, which runs without Spark."""

from __future__ import annotations


def in_datafusion(text: str) -> str:
    """Return a text as a literal of DataFusion's SQL: unlike in Spark's, a backslash stands for itself."""
    return "'" + text.replace("'", "''") + "'"
